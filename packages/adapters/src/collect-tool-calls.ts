/** A tool call of a chat completion. */
export interface ChatToolCall {
  /** Id that the tool message must repeat. */
  id: string
  type: 'function'
  /** The name that the model calls, and its arguments as JSON text. */
  function: { name: string; arguments: string }
}

/** The fields of a streamed chunk that are read. */
export interface ChatChunk {
  /** Choices of the chunk; only those of index 0 are collected. */
  readonly choices?: ReadonlyArray<{
    /** Which of several answers it belongs to. Default: 0. */
    readonly index?: number
    /** The new part of the answer. */
    readonly delta?: { readonly tool_calls?: readonly ChatToolCallDelta[] | null }
  }>
}

/** A piece of a tool call. */
export interface ChatToolCallDelta {
  /** Which of several calls it belongs to. */
  readonly index?: number
  /** Id of the call; only in its first part. */
  readonly id?: string | null
  /** The next part of the name and of the arguments. */
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null
}

/** Limit for endless streams; truncated arguments are not valid JSON and are reported as such. */
const MAX_CHARS = 20_000_000
const MAX_CALLS = 1_000

/**
 * Collects the tool calls of a streamed chat completion, in the model's order.
 * @example
 * const calls = collectToolCalls()
 * for await (const chunk of stream) calls.add(chunk)
 * messages.push({ role: 'assistant', tool_calls: calls.toolCalls }, ...(await chat.run(calls.toolCalls)))
 */
export function collectToolCalls(): { add(chunk: ChatChunk): void; readonly toolCalls: ChatToolCall[] } {
  const calls = new Map<number, ChatToolCall>()
  let chars = 0

  const addDelta = (delta: ChatToolCallDelta): void => {
    const index = typeof delta.index === 'number' ? delta.index : calls.size
    const call = calls.get(index) ?? { id: '', type: 'function', function: { name: '', arguments: '' } }
    if (!calls.has(index) && calls.size >= MAX_CALLS) return
    calls.set(index, call)
    const { name, arguments: text } = delta.function ?? {}
    chars += (name?.length ?? 0) + (text?.length ?? 0)
    if (chars > MAX_CHARS) return
    call.id ||= delta.id ?? ''
    call.function.name += name ?? ''
    call.function.arguments += text ?? ''
  }
  return {
    add(chunk) {
      const choice = chunk.choices?.find(({ index = 0 }) => index === 0)
      for (const delta of choice?.delta?.tool_calls ?? []) addDelta(delta)
    },
    get toolCalls() {
      return [...calls].sort(([one], [other]) => one - other).map(([, call]) => call)
    },
  }
}
