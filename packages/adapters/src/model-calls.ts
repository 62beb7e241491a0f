import {
  type CallEvent,
  type CallOptions,
  type ContentBlock,
  type Failure,
  type ToolResult,
  textOfBlock,
} from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'

/** Progress of a call that has no result yet. */
export interface CallProgress {
  /** `pending`: it waits for somebody else. */
  readonly status: 'running' | 'pending'
  /** The progress that the tool reported so far. */
  readonly content: readonly ContentBlock[]
}

/**
 * Yields the progress of a call and then its result. Stopping the iteration does not stop the call; its signal does.
 * (Unlike `hub.stream` it creates no signal, which would cost more than the rest of a small call.)
 */
export async function* callWithProgress(
  start: (onEvent: (event: CallEvent) => void) => Promise<ToolResult>,
): AsyncGenerator<CallProgress | ToolResult, void, undefined> {
  const waiting: CallProgress[] = []
  let isEnded = false
  let wake = () => {}
  const ended = start((event) => {
    const progress = progressOf(event)
    if (progress) waiting.push(progress)
    wake()
  })
  const end = () => {
    isEnded = true
    wake()
  }
  ended.then(end, end)
  for (;;) {
    while (waiting.length > 0) yield waiting.shift()!
    if (isEnded) break
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  yield await ended
}

function progressOf(event: CallEvent): CallProgress | undefined {
  if (event.type === 'call-progressed') return { status: 'running', content: event.content }
  if (event.type !== 'call-pending') return undefined
  return { status: 'pending', content: [{ type: 'text', text: event.message }] }
}

/** The first words of the message with the images of a tool result, which has the role `user`. */
export const FROM_TOOL_RESULT = 'From the tool result of '

/** What adapters read of a message, in the forms of the AI SDK, OpenAI, Anthropic and LangChain. */
interface GivenMessage {
  readonly role?: unknown
  /** LangChain's name of a role. */
  readonly type?: unknown
  readonly name?: unknown
  readonly content?: unknown
  readonly additional_kwargs?: { readonly lc_source?: unknown } | null
}

/** What the user wrote in a conversation: texts of messages with the role `user`, oldest first. */
export function userTextOf(messages: unknown): readonly string[] {
  if (!Array.isArray(messages)) return []
  return messages.flatMap((message: GivenMessage | null | undefined) => (isFromUser(message) ? textsIn(message) : []))
}

/** Frameworks put what agents wrote into messages of the user, too: then they have a name, or LangChain's mark of a summary. */
function isFromUser(message: GivenMessage | null | undefined): message is GivenMessage {
  if (typeof message !== 'object' || message === null) return false
  const { role, type, name, additional_kwargs: more } = message
  return (role === 'user' || type === 'human') && name === undefined && more?.lc_source === undefined
}

/** Text beside the result of a tool is not taken: programs put it there, not the user. */
function textsIn({ content }: GivenMessage): readonly string[] {
  const parts = (Array.isArray(content) ? content : [{ type: 'text', text: content }]) as readonly (Part | null)[]
  const texts = parts.flatMap((part) => {
    const isText = part?.type === 'text' || part?.type === 'input_text'
    return isText && typeof part.text === 'string' ? [part.text] : []
  })
  const isResult =
    parts.some((part) => RESULTS.has(part?.type)) || texts.some((text) => text.startsWith(FROM_TOOL_RESULT))
  return isResult ? [] : texts
}

interface Part {
  readonly type?: unknown
  readonly text?: unknown
}
const RESULTS: ReadonlySet<unknown> = new Set(['tool_result', 'tool-result', 'function_call_output'])

/** Whether a person has to approve a call: policy asks, and no remembered answer applies. */
export async function needsAnswer(
  hub: Pick<Hub, 'explain' | 'addUserText'>,
  name: string,
  input: unknown,
  { userText = [], ...who }: CallOptions,
): Promise<boolean> {
  if (userText.length > 0) await hub.addUserText(userText, { run: who.run })
  const { effect, remembered } = await hub.explain(name, input, who)
  return effect === 'ask' && remembered === undefined
}

/**
 * Options that approve one call which a person approved elsewhere. Calls inside it were not shown to that person, so
 * their approvals are left to the hub.
 */
export function approveOwnCall(
  by: string,
  onEvent?: CallOptions['onEvent'],
): Required<Pick<CallOptions, 'approve' | 'onEvent'>> {
  let own: string | undefined
  return {
    // Only events of this call arrive here, and this one arrives before its question.
    onEvent: (event) => {
      if (event.type === 'approval-requested') own = event.request.id
      onEvent?.(event)
    },
    approve: ({ id }) => (id === own ? { decision: 'allow', by } : undefined),
  }
}

/** A failure as plain text for the model: the error, then any data there is. */
export function failureText({ content, data, error }: Failure): string {
  const text = content.map(textOfBlock).join('\n')
  return data === undefined ? text : `${error.code}: ${error.message} ${error.fix.hint}\n${text}`
}

/**
 * Stands for arguments that are not JSON: a hub accepts only plain data, so the call fails on record, whatever the
 * tool accepts.
 */
export const NO_JSON: object = new (class ArgumentsThatAreNoJson {})()

/** More than a hub accepts by default, and than any model writes. */
const MAX_CHARS = 20_000_000
const MAX_REASON_CHARS = 200

/** Parses the arguments that a model wrote as JSON, or returns the problem. An empty text means no arguments. */
export function parseArguments(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (text.length > MAX_CHARS) {
    return { problem: `The arguments have ${text.length} characters, the limit is ${MAX_CHARS}.` }
  }
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const reason = escapeLine((error as Error).message).slice(0, MAX_REASON_CHARS)
    return { problem: `The arguments are not JSON: ${reason}.` }
  }
}
