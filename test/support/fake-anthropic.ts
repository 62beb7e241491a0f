import { type FakeAnswer, type JsonServer, startJsonServer } from './json-server.ts'

/** What the scripted model does in one turn: calls tools, or says something. */
export interface AnthropicTurn {
  readonly text?: string
  readonly calls?: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly input: unknown
    readonly caller?: object
  }>
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly is_error?: boolean
  readonly content?: string | readonly Block[]
}

interface Body {
  readonly stream?: boolean
  readonly tools?: ReadonlyArray<{
    name: string
    strict?: boolean
    input_schema: Record<string, unknown>
    cache_control?: object
  }>
  readonly messages: ReadonlyArray<{ role: string; content: string | readonly Block[] }>
}

/** A server that speaks Anthropic's Messages API with a scripted model behind it. */
export interface FakeAnthropic extends JsonServer {
  /** What the model does next, turn by turn. */
  script(...turns: AnthropicTurn[]): void
  readonly requests: Body[]
}

/** Starts one. It refuses what the real one refuses: schemas outside the rules, `tool_use` without its result next. */
export async function startFakeAnthropic(): Promise<FakeAnthropic> {
  const turns: AnthropicTurn[] = []
  const requests: Body[] = []
  const server = await startJsonServer((_, body: Body) => {
    requests.push(body)
    const message = findProblem(body)
    if (message) return { status: 400, json: { type: 'error', error: { type: 'invalid_request_error', message } } }
    return answer(turns.shift() ?? { text: 'done' }, body)
  })
  return {
    ...server,
    requests,
    script(...next) {
      turns.splice(0, turns.length, ...next)
      requests.length = 0
    },
  }
}

function findProblem({ tools = [], messages }: Body): string | undefined {
  for (const { name, input_schema: schema, strict } of tools) {
    if (schema.type !== 'object') return `${name}: input_schema.type must be object`
    if (['oneOf', 'anyOf', 'allOf'].some((keyword) => keyword in schema)) {
      return `${name}: input_schema does not support oneOf, allOf, or anyOf at the top level`
    }
    if (strict && schema.additionalProperties !== false) return `${name}: additionalProperties must be false`
    const odd = Object.keys(schema.properties ?? {}).find((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
    if (odd) return `${name}: property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`
  }
  if (tools.filter(({ strict }) => strict).length > 20) return 'Too many strict tools'
  for (const [index, message] of messages.entries()) {
    const asked = blocks(message.content).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
    const answers = blocks(messages[index + 1]?.content ?? '').filter(({ type }) => type === 'tool_result')
    if (asked.join() !== answers.map(({ tool_use_id }) => tool_use_id).join())
      return '`tool_use` ids were found without `tool_result` blocks immediately after'
    if (answers.some(isBadError)) return 'all content must be type "text" if "is_error" is true'
  }
  return undefined
}

function isBadError({ is_error, content }: Block): boolean {
  return is_error === true && blocks(content ?? '').some(({ type }) => type !== 'text')
}

function blocks(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [] : content
}

function answer({ text, calls = [] }: AnthropicTurn, { stream }: Body): FakeAnswer {
  const spoken = text === undefined ? [] : [{ type: 'text', text }]
  const asked = calls.map(({ id, name, input, caller = { type: 'direct' } }) => ({
    type: 'tool_use',
    id,
    name,
    input,
    caller,
  }))
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: 1, output_tokens: 1 }
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', stop_sequence: null, usage }
  if (!stream) return { json: { ...base, content: [...spoken, ...asked], stop_reason } }
  const parts = [
    ...spoken.map(({ text }) => ({ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text }] })),
    ...asked.map((block) => ({
      start: { ...block, input: {} },
      deltas: halves(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })),
  ]
  const all = [
    { type: 'message_start', message: { ...base, content: [], stop_reason: null } },
    ...parts.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  return { events: all.map((data) => ({ event: data.type, data })) }
}

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
