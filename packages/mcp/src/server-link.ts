import type { CallToolResult } from '@modelcontextprotocol/client'
import { type BaseContext, type Clock, type McpServer, type SourceHost, ToolError } from '@tool-hub/core'
import type { ReferenceSources } from '@tool-hub/core/config'
import { escapeLine, untilAborted } from '@tool-hub/core/lib'
import { type KnownServer, McpConnection, START_TIMEOUT_MS } from './connection/index.ts'
import type { ServerToolDefinition } from './definitions.ts'
import type { Pins } from './pins.ts'
import { ServerTools } from './server-tools.ts'
import { tooSlow, upstreamError } from './upstream-error.ts'

const FIRST_DELAY_MS = 500

/** A connection that lasted this long does not count as a quick failure. */
const STEADY_MS = 30_000

const MAX_QUICK_FAILURES = 5

/**
 * Decides when to restart something that failed: the delay doubles each time, and after five quick failures it is not
 * restarted automatically.
 */
export class Backoff {
  readonly #random: () => number
  #failures = 0

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** Returns the delay after a failure, or `undefined` if it should be restarted only on request. */
  afterFailure(livedMs: number): number | undefined {
    this.#failures = livedMs >= STEADY_MS ? 1 : this.#failures + 1
    if (this.#failures >= MAX_QUICK_FAILURES) return undefined
    const ceilingMs = FIRST_DELAY_MS * 2 ** (this.#failures - 1)
    return Math.round(ceilingMs * (0.5 + this.#random() / 2))
  }
}

/** Options of a server link. */
export interface ServerLinkOptions {
  readonly name: string
  readonly server: McpServer
  /** Names of all servers of the source. */
  readonly names: readonly string[]
  readonly host: SourceHost
  readonly env: ReferenceSources['env']
  readonly pins: Pins
  /** Called when its tools have changed. */
  readonly onTools: () => void
}

/** First delay between polls of a server whose change stream keeps ending. */
const FIRST_WAIT_MS = 5_000
const MAX_WAIT_MS = 300_000

/**
 * Supervises one server: connects it, watches it, and reconnects it when the connection breaks. Failures do not affect
 * other servers.
 */
export class ServerLink {
  readonly serverTools: ServerTools
  /** Why the server is down; `undefined` while it is up. */
  problem: ToolError | undefined
  readonly #options: ServerLinkOptions
  readonly #known: KnownServer = {}
  readonly #backoff = new Backoff()
  readonly #refresher: Refresher
  readonly #closing = new AbortController()
  #connection: McpConnection | undefined
  #connecting: Promise<McpConnection> | undefined
  #cancelRetry: (() => void) | undefined

  constructor(options: ServerLinkOptions) {
    this.#options = options
    this.serverTools = new ServerTools({ ...options, call: (...call) => this.#call(...call) })
    this.#refresher = new Refresher(options.host.clock, () => this.#refresh())
  }

  get connection(): McpConnection | undefined {
    return this.#connection
  }

  /** Connects, or waits for the attempt that is under way. A server that stays down is tried once more per request. */
  connect(): Promise<McpConnection> {
    if (this.#connection) return Promise.resolve(this.#connection)
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  /** Lists the tools again now. */
  refresh(): Promise<void> {
    return this.#refresher.now()
  }

  async close(): Promise<void> {
    this.#closing.abort(new ToolError('ABORTED', `The MCP server ${this.#options.name} was closed.`))
    this.#cancelRetry?.()
    this.#refresher.close()
    const connection = this.#connection
    this.#connection = undefined
    await connection?.close()
    // Its error reaches everyone who waits for it.
    await this.#connecting?.catch(() => {})
  }

  /** Calls a tool, over a new connection if the old one is gone. */
  async #call(definition: ServerToolDefinition, input: unknown, ctx: BaseContext): Promise<CallToolResult> {
    const connection = await untilAborted(this.connect(), ctx.signal)
    this.#assertUnchanged(definition)
    try {
      return await connection.call(definition, input, ctx)
    } catch (error) {
      if (ToolError.is(error) && error.code === 'INPUT_SCHEMA_INVALID') await this.#lookFor(definition, ctx)
      if (!connection.hasLostSession(error)) throw error
      this.#lose(connection)
      const renewed = await untilAborted(this.connect(), ctx.signal)
      this.#assertUnchanged(definition)
      return renewed.call(definition, input, ctx)
    }
  }

  async #attempt(): Promise<McpConnection> {
    const { name, server, host, env } = this.#options
    const startedAt = host.clock.now()
    const deadline = new AbortController()
    const timeoutMs = server.startTimeoutMs ?? START_TIMEOUT_MS
    const giveUp = () => deadline.abort(tooSlow(name, server, timeoutMs, `look at it with: tool-hub mcp test ${name}.`))
    const cancel = host.clock.after(timeoutMs, giveUp, { background: true })
    const signal = AbortSignal.any([deadline.signal, this.#closing.signal])
    let connection: McpConnection | undefined
    try {
      signal.throwIfAborted()
      connection = await McpConnection.open({ name, server, host, env, known: this.#known, signal })
      await this.#take(connection, signal)
      this.#connection = connection
      this.problem = undefined
      this.#supervise(connection)
      return connection
    } catch (error) {
      // It may be another server version now.
      if (!connection) Object.assign(this.#known, { era: undefined, isSse: undefined })
      const reason = connection?.reason
      await connection?.close().catch(() => {})
      const problem = upstreamError(name, signal.aborted && !ToolError.is(error) ? signal.reason : (reason ?? error))
      this.#plan(problem, host.clock.now() - startedAt)
      throw problem
    } finally {
      cancel()
    }
  }

  #supervise(connection: McpConnection): void {
    const { clock } = this.#options.host
    const startedAt = clock.now()
    void connection.closed.then((reason) => {
      if (this.#connection !== connection) return
      this.#connection = undefined
      this.#plan(reason, clock.now() - startedAt)
    })
    void this.#watch(connection)
  }

  /** Reopens a change stream that ended, after listing the tools to catch what it missed. */
  async #watch(connection: McpConnection): Promise<void> {
    for (let waitMs = FIRST_WAIT_MS; this.#connection === connection; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      const outcome = await connection.watch(() => this.#refresher.soon(), this.#closing.signal)
      if (outcome !== 'ended' || this.#connection !== connection) return
      await this.#refresher.after(waitMs, this.#closing.signal)
    }
  }

  /** Records the problem and plans the next attempt; there is none for problems that only a person can fix. */
  #plan(problem: ToolError, livedMs: number): void {
    this.problem = problem
    if (this.#closing.signal.aborted || !problem.retryable) return
    const delayMs = this.#backoff.afterFailure(livedMs)
    if (delayMs === undefined) return
    const retry = () => void this.connect().catch(() => {})
    this.#cancelRetry = this.#options.host.clock.after(delayMs, retry, { background: true })
  }

  #lose(connection: McpConnection): void {
    if (this.#connection === connection) this.#connection = undefined
    void connection.close().catch(() => {})
  }

  async #refresh(): Promise<void> {
    if (this.#connection) await this.#take(this.#connection, this.#closing.signal)
  }

  async #take(connection: McpConnection, signal: AbortSignal): Promise<void> {
    const { definitions, leftOut } = await connection.list(signal)
    await this.serverTools.take(definitions, leftOut, signal)
    this.#options.onTools()
  }

  /** A server may have removed a tool without a notification. */
  async #lookFor({ tool }: ServerToolDefinition, ctx: BaseContext): Promise<void> {
    await untilAborted(
      this.refresh().catch(() => {}),
      ctx.signal,
    )
    this.#assertThere(tool)
  }

  /** The call was decided, and perhaps approved, for exactly this definition. */
  #assertUnchanged(definition: ServerToolDefinition): void {
    this.#assertThere(definition.tool)
    if (this.serverTools.holds(definition)) return
    throw new ToolError(
      'CONFLICT',
      `${this.#options.name} changed ${shown(definition.tool)} meanwhile; it was not called.`,
      {
        hint: 'Look at its tools again, then call.',
      },
    )
  }

  #assertThere(tool: string): void {
    if (this.serverTools.has(tool)) return
    throw new ToolError('TOOL_NOT_FOUND', `${this.#options.name} does not have ${shown(tool)} any more.`)
  }
}

function shown(tool: string): string {
  return `the tool ${JSON.stringify(escapeLine(tool.slice(0, 80)))}`
}

/** Changes within this time count as one. */
const DEBOUNCE_MS = 200
/** Minimum pause between two refreshes, for servers that report changes without end. */
const REST_MS = 1_000

/** Repeats a task on notification, never twice concurrently and with a minimum pause. */
export class Refresher {
  readonly #clock: Clock
  readonly #work: () => Promise<void>
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #isWanted = false
  #isClosed = false

  constructor(clock: Clock, work: () => Promise<void>) {
    this.#clock = clock
    this.#work = work
  }

  /** Refreshes after a short delay. */
  soon(): void {
    if (this.#running) this.#isWanted = true
    else this.#plan(DEBOUNCE_MS)
  }

  /** Refreshes now, or joins the refresh under way. */
  now(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** Refreshes after a delay; resolves when it is done. */
  after(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const cancel = this.#clock.after(
        waitMs,
        () => {
          signal.removeEventListener('abort', stop)
          this.now().then(resolve, resolve)
        },
        { background: true },
      )
      const stop = () => {
        cancel()
        resolve()
      }
      signal.addEventListener('abort', stop)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #plan(ms: number): void {
    if (this.#cancel || this.#isClosed) return
    this.#cancel = this.#clock.after(
      ms,
      () => {
        this.#cancel = undefined
        // A failed refresh keeps the previous tools; the next change tries again.
        this.now().catch(() => {})
      },
      { background: true },
    )
  }

  async #run(): Promise<void> {
    try {
      await this.#work()
    } finally {
      this.#running = undefined
      if (this.#isWanted) this.#plan(REST_MS)
      this.#isWanted = false
    }
  }
}
