import type { CallToolResult, Client, ElicitResult, Progress } from '@modelcontextprotocol/client'
import { type BaseContext, type Clock, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { type LeftOut, rawToolsOf, readDefinitions, type ServerToolDefinition } from '../definitions.ts'
import { statusOf, upstreamError } from '../upstream-error.ts'
import { type Connected, connect, type McpConnectOptions } from './connect.ts'
import { ServerQuestions } from './questions.ts'
import { waitUnlessAborted } from './transport.ts'

/** Tools of one server. */
const MAX_TOOLS = 1_000
/** Pages of one listing. */
const MAX_PAGES = 100
/** The SDK requires a timeout of its own; the hub's timeout is the one that counts. */
const NO_TIMEOUT_MS = 2 ** 31 - 1
const MAX_ROUNDS = 10
const MAX_PROGRESS = 1_000
const PROGRESS_CHARS = 500
/** Pause before a call is repeated that its server postponed. */
const PUT_OFF_MS = 250
/** How long closing a session may take. */
const FAREWELL_MS = 1_000

/** A connection to a server: lists its tools and calls them. */
export class McpConnection {
  readonly #name: string
  readonly #connected: Connected
  readonly #clock: Clock
  readonly #active: Set<ServerQuestions>
  /** Resolves with the reason when the connection ends. */
  readonly closed: Promise<ToolError>

  static async open(options: Omit<McpConnectOptions, 'prepare'>): Promise<McpConnection> {
    const active = new Set<ServerQuestions>()
    const prepare = (client: Client) => {
      client.onerror = () => {
        // An error that breaks a call is reported by the call; all others have no receiver.
      }
      client.setRequestHandler('elicitation/create', ({ params }) => answer(options.name, params, active))
    }
    return new McpConnection(options.name, await connect({ ...options, prepare }), options.host.clock, active)
  }

  constructor(name: string, connected: Connected, clock: Clock, active: Set<ServerQuestions>) {
    this.#name = name
    this.#connected = connected
    this.#clock = clock
    this.#active = active
    const { client, transport } = connected
    this.closed = new Promise((resolve) => {
      const end = () =>
        resolve(transport.reason ?? new ToolError('UPSTREAM_ERROR', `The connection to ${name} is lost.`))
      client.onclose = end
      if (!client.transport) end()
    })
  }

  get era() {
    return this.#connected.era
  }

  get info() {
    return this.#connected.info
  }

  /** Why the connection ended; `undefined` while it is open. */
  get reason(): ToolError | undefined {
    return this.#connected.transport.reason
  }

  /** Lists all tools, page by page. Tools over the limit are left out and reported. */
  async list(
    signal: AbortSignal,
  ): Promise<{ definitions: readonly ServerToolDefinition[]; leftOut: readonly LeftOut[] }> {
    const { client, hasHeaders } = this.#connected
    if (!client.getServerCapabilities()?.tools) return { definitions: [], leftOut: [] }
    const tools: unknown[] = []
    let cursor: string | undefined
    for (let page = 1; page <= MAX_PAGES && tools.length <= MAX_TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const result = await client.request({ method: 'tools/list', params }, { signal, timeout: NO_TIMEOUT_MS })
      tools.push(...rawToolsOf(result))
      const next = result.nextCursor
      if (next === undefined || next === cursor) return this.#read(tools, false, hasHeaders)
      cursor = next
    }
    return this.#read(tools, true, hasHeaders)
  }

  #read(tools: readonly unknown[], isCut: boolean, hasHeaders: boolean) {
    const { definitions, leftOut } = readDefinitions(tools.slice(0, MAX_TOOLS), { hasHeaders })
    const isOver = isCut || tools.length > MAX_TOOLS
    const why = `it offers more than ${MAX_TOOLS} tools or ${MAX_PAGES} pages of them`
    return { definitions, leftOut: isOver ? [...leftOut, { tool: 'the rest', why }] : leftOut }
  }

  /** Calls `onChange` when the tools have changed, or may have. */
  async watch(onChange: () => void, signal: AbortSignal): Promise<'watching' | 'ended' | 'impossible'> {
    const { client, era } = this.#connected
    if (!client.getServerCapabilities()?.tools?.listChanged) return 'impossible'
    client.setNotificationHandler('notifications/tools/list_changed', () => onChange())
    if (era === 'legacy') return 'watching'
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { signal })
      await subscription.closed
    } catch {
      // A stream that cannot be opened counts as ended: the tools are polled instead.
    }
    return 'ended'
  }

  /** Calls a tool and answers what its server asks meanwhile. Throws only errors of the error table. */
  async call(definition: ServerToolDefinition, input: unknown, ctx: BaseContext): Promise<CallToolResult> {
    const questions = new ServerQuestions(this.#name, ctx)
    this.#active.add(questions)
    try {
      return await this.#callThrough(definition, input, ctx, questions)
    } catch (error) {
      if (ctx.signal.aborted) throw ctx.signal.reason
      throw this.#connected.transport.reason ?? upstreamError(this.#name, error)
    } finally {
      this.#active.delete(questions)
      questions.close()
    }
  }

  async #callThrough(definition: ServerToolDefinition, input: unknown, ctx: BaseContext, questions: ServerQuestions) {
    const { tool, input: inputSchema } = definition
    const { client, sdk } = this.#connected
    const options = {
      signal: ctx.signal,
      timeout: NO_TIMEOUT_MS,
      onprogress: passProgress(ctx),
      allowInputRequired: true,
      // Needed for arguments that are sent as headers; the hub checks the answer.
      toolDefinition: { name: tool, inputSchema: (inputSchema ?? {}) as never },
    }
    let params: { name: string; arguments: Record<string, unknown> } = { name: tool, arguments: input as never }
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result: unknown = await client.callTool(params, options)
      if (!sdk.isInputRequiredResult(result)) return result as CallToolResult
      const { inputRequests = {}, requestState } = result
      const inputResponses = await this.#fulfil(inputRequests, ctx, questions)
      const answers = Object.keys(inputResponses).length > 0 ? { inputResponses } : {}
      params = { ...params, ...answers, ...(requestState !== undefined && { requestState }) }
    }
    throw new ToolError('UPSTREAM_ERROR', `${this.#name} still asked after ${MAX_ROUNDS} rounds.`, {
      retryable: false,
    })
  }

  /** Answers the questions of the newest protocol, one after the other. */
  async #fulfil(
    requests: Readonly<Record<string, unknown>>,
    ctx: BaseContext,
    questions: ServerQuestions,
  ): Promise<Record<string, ElicitResult>> {
    const asked = Object.entries(requests)
    if (asked.length === 0) await waitUnlessAborted(PUT_OFF_MS, this.#clock, ctx.signal)
    const answers: [string, ElicitResult][] = []
    for (const [key, request] of asked) {
      const { method, params } = request as { readonly method?: unknown; readonly params?: unknown }
      if (method !== 'elicitation/create') {
        throw new ToolError(
          'UPSTREAM_ERROR',
          `${this.#name} wants ${escapeLine(String(method).slice(0, 60))}, which this hub does not offer.`,
          { retryable: false },
        )
      }
      answers.push([key, await questions.ask(params)])
    }
    return Object.fromEntries(answers)
  }

  /**
   * Whether an error means that the server forgot this session and executed nothing, so that a new session can be
   * opened.
   */
  hasLostSession(error: unknown): boolean {
    const status = statusOf(ToolError.is(error) ? error.cause : error)
    return this.#connected.transport.sessionId !== undefined && (status === 404 || status === 400)
  }

  async close(): Promise<void> {
    const { client, transport } = this.#connected
    const farewell = transport.terminateSession?.().catch(() => {})
    if (farewell) await Promise.race([farewell, waitUnlessAborted(FAREWELL_MS, this.#clock)])
    await client.close()
    await transport.close()
  }
}

/** The old protocol does not say which call a question belongs to, so all open calls must belong to one run. */
async function answer(server: string, params: unknown, active: ReadonlySet<ServerQuestions>): Promise<ElicitResult> {
  const calls = [...active]
  const last = calls.at(-1)
  const isOfOneRun = last !== undefined && calls.every(({ run }) => run === last.run)
  if (isOfOneRun) return last.ask(params)
  const why = `${server} asked something, and it cannot be known for which of ${calls.length} calls.`
  await Promise.all(calls.map((questions) => questions.refuse(why)))
  return { action: 'cancel' }
}

function passProgress(ctx: BaseContext): (progress: Progress) => void {
  let count = 0
  return ({ progress, total, message }) => {
    if (++count > MAX_PROGRESS) return
    const how = total === undefined ? String(progress) : `${progress} of ${total}`
    ctx.progress(message === undefined ? how : `${escapeLine(message.slice(0, PROGRESS_CHARS))} (${how})`)
  }
}
