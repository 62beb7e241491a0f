import { type FakeAnswer, type JsonServer, startJsonServer } from './json-server.ts'

/** What the scripted model does in one turn: calls tools, or says something. */
export interface OpenAiTurn {
  readonly text?: string
  readonly calls?: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly arguments: string
    readonly caller?: object
  }>
}

interface Schema {
  readonly type?: unknown
  readonly properties?: Record<string, unknown>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

interface Body {
  readonly stream?: boolean
  readonly tools?: ReadonlyArray<FunctionTool & { readonly function?: FunctionTool }>
  readonly messages?: ReadonlyArray<{
    role: string
    tool_call_id?: string
    content?: unknown
    tool_calls?: { id: string }[]
  }>
  readonly input?: string | ReadonlyArray<{ type?: string; call_id?: string; output?: unknown }>
}

interface FunctionTool {
  readonly name: string
  readonly parameters: Schema
  readonly strict?: boolean
}

/** A server that speaks OpenAI's chat completions and Responses API with a scripted model behind it. */
export interface FakeOpenAi extends JsonServer {
  /** What the model does next, turn by turn. */
  script(...turns: OpenAiTurn[]): void
  readonly requests: Body[]
}

const ROOT_TABOO = ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not']

/** Starts one. It refuses what the real one refuses: schemas outside the rules, calls without an answer. */
export async function startFakeOpenAi(): Promise<FakeOpenAi> {
  const turns: OpenAiTurn[] = []
  const requests: Body[] = []
  const server = await startJsonServer((path, body: Body) => {
    requests.push(body)
    const problem = findProblem(body)
    if (problem) return { status: 400, json: { error: { message: problem, type: 'invalid_request_error' } } }
    const turn = turns.shift() ?? { text: 'done' }
    return path.endsWith('/responses') ? answerResponse(turn, body) : answerChat(turn, body)
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

function findProblem({ tools = [], messages = [], input: given = [] }: Body): string | undefined {
  for (const tool of tools) {
    const { name, parameters, strict } = tool.function ?? tool
    const taboo = ROOT_TABOO.find((keyword) => keyword in parameters)
    if (parameters.type !== 'object' || taboo)
      return `Invalid schema for function '${name}': ${taboo ?? 'type'} at the top level`
    if (strict && !isStrict(parameters)) return `Invalid schema for function '${name}': 'required' must list every key`
  }
  const asked = messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? [])
  const answered = messages.flatMap(({ role, tool_call_id }) => (role === 'tool' ? [tool_call_id] : []))
  if (asked.join() !== answered.join()) return `tool_calls ${asked} were answered by ${answered}`
  const input = typeof given === 'string' ? [] : given
  const calls = input.flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : []))
  const outputs = input.flatMap(({ type, call_id }) => (type === 'function_call_output' ? [call_id] : []))
  return calls.join() === outputs.join() ? undefined : `No tool output found for function calls ${calls}`
}

function isStrict({ properties = {}, required = [], additionalProperties }: Schema): boolean {
  const isClosed = additionalProperties === false && Object.keys(properties).join() === required.join()
  return (
    isClosed &&
    Object.values(properties).every((part) => (part as Schema).type !== 'object' || isStrict(part as Schema))
  )
}

function answerChat({ text = null as never, calls }: OpenAiTurn, { stream }: Body): FakeAnswer {
  const tool_calls = calls?.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }))
  const base = { id: 'chatcmpl-1', created: 1, model: 'scripted' }
  const finish_reason = calls ? 'tool_calls' : 'stop'
  if (!stream) {
    const message = { role: 'assistant', content: text, ...(tool_calls && { tool_calls }) }
    return { json: { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }] } }
  }
  const chunk = (delta: object, reason: string | null = null) => ({
    data: { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] },
  })
  const openings = (tool_calls ?? []).map((call, index) =>
    chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] }),
  )
  // Pieces of all calls, mixed: first all halves, then all other halves.
  const pieces = [0, 1].flatMap((half) =>
    (tool_calls ?? []).map((call, index) =>
      chunk({ tool_calls: [{ index, function: { arguments: halves(call.function.arguments)[half] } }] }),
    ),
  )
  const start = chunk({ role: 'assistant', content: text })
  return { events: [start, ...openings, ...pieces, chunk({}, finish_reason), { data: '[DONE]' }] }
}

function answerResponse({ text, calls = [] }: OpenAiTurn, { stream }: Body): FakeAnswer {
  const spoken = text === undefined ? [] : [{ type: 'output_text', text, annotations: [] }]
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: spoken }
  const asked = calls.map(({ id, name, arguments: given, caller }) => ({
    ...{ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: given, status: 'completed' },
    ...(caller && { caller }),
  }))
  const output = [...asked, ...(spoken.length > 0 ? [message] : [])]
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'scripted', status: 'completed', output }
  if (!stream) return { json: response }
  const events = asked.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '', status: 'in_progress' } },
    ...halves(item.arguments).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: item.id,
      output_index,
      delta,
    })),
    { type: 'response.function_call_arguments.done', item_id: item.id, output_index, arguments: item.arguments },
    { type: 'response.output_item.done', output_index, item },
  ])
  const all = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...events,
    { type: 'response.completed', response },
  ]
  return { events: all.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } })) }
}

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
