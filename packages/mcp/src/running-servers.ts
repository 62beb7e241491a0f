import type { McpServer, SourceHost, ToolError } from '@tool-hub/core'
import type { ReferenceSources } from '@tool-hub/core/config'
import type { LeftOut } from './definitions.ts'
import { Pins } from './pins.ts'
import { ServerLink } from './server-link.ts'

/** Interval of checks whether the owner accepted a change. */
const LOOK_MS = 2_000

/** State of a server, for lists. */
export interface McpServerStatus {
  /** The name in `mcpServers`. */
  readonly name: string
  /** `down` when it cannot be reached now; `problem` says why. */
  readonly state: 'disabled' | 'connecting' | 'connected' | 'down'
  /** Which protocol it speaks; absent before it is connected. */
  readonly era?: 'modern' | 'legacy'
  /** Canonical names of its tools. */
  readonly tools: readonly string[]
  /** Tools that cannot be used, and why. */
  readonly leftOut: readonly LeftOut[]
  /**
   * Tools that changed or are new, until the owner accepts them: models see the pinned definition of the former and
   * none of the latter.
   */
  readonly changed?: readonly string[]
  /** Why it is down; absent otherwise. */
  readonly problem?: ToolError
}

/** All servers of a source while it is connected. */
export class RunningServers {
  readonly #servers: Readonly<Record<string, McpServer>>
  readonly #links = new Map<string, ServerLink>()
  readonly #host: SourceHost
  readonly #pins: Pins
  readonly #refused = new Set<string>()
  /** How often the pins could be read again after a listing that could not be compared, by server. */
  readonly #readable = new Map<string, number>()
  #cancelLook: (() => void) | undefined
  #isClosed = false

  constructor(
    servers: Readonly<Record<string, McpServer>>,
    { host, env }: { readonly host: SourceHost; readonly env: ReferenceSources['env'] },
  ) {
    this.#servers = servers
    this.#host = host
    this.#pins = new Pins(host)
    const enabled = Object.entries(servers).filter(([, server]) => server.disabled !== true)
    const names = Object.keys(servers)
    // Longest name first: on the wire a tool of `a_b` begins like one of `a`.
    for (const [name, server] of enabled.sort(([a], [b]) => b.length - a.length)) {
      const onTools = () => this.#offer()
      const link = new ServerLink({ name, server, names, host, env, pins: this.#pins, onTools })
      this.#links.set(name, link)
      this.#expect(name, link)
    }
  }

  status(): McpServerStatus[] {
    return Object.keys(this.#servers).map((name) => {
      const link = this.#links.get(name)
      if (!link) return { name, state: 'disabled', tools: [], leftOut: [] }
      const { connection, problem, serverTools } = link
      const { leftOut, changed } = serverTools
      const tools = serverTools.tools.map((tool) => tool.name)
      const about = { name, tools, leftOut, ...(changed.length > 0 && { changed }) }
      if (connection) return { ...about, state: 'connected', era: connection.era }
      return problem ? { ...about, state: 'down', problem } : { ...about, state: 'connecting' }
    })
  }

  async accept(server: string): Promise<readonly string[]> {
    const accepted = await this.#pins.accept(server)
    await this.#links.get(server)?.refresh()
    return accepted
  }

  async close(): Promise<void> {
    this.#cancelLook?.()
    this.#isClosed = true
    await Promise.all([...this.#links.values()].map((link) => link.close()))
  }

  /** A call with a name of this server waits for it; a server that is down is tried again for each such call. */
  #expect(name: string, link: ServerLink): void {
    const problem = () => (link.connection ? undefined : link.problem)
    for (const prefix of [`mcp/${name}.`, `mcp_${name}_`]) this.#host.expect(prefix, () => link.connect(), problem)
  }

  #offer(): void {
    const refused = this.#host.offer([...this.#links.values()].flatMap(({ serverTools }) => serverTools.tools))
    for (const { name, why } of refused) {
      const problem = `${name} is left out: ${why}`
      if (!this.#refused.has(problem)) this.#host.warn(problem)
      this.#refused.add(problem)
    }
    this.#lookForAnswer()
  }

  /**
   * While something waits for the owner, notices `tool-hub mcp pin` of another process. A listing that could not be compared
   * because the store was away is repeated when it is back.
   */
  #lookForAnswer(): void {
    this.#cancelLook?.()
    this.#cancelLook = undefined
    const waiting = [...this.#links].filter(
      ([, { serverTools }]) => serverTools.acceptable.length > 0 || serverTools.isUncompared,
    )
    if (waiting.length === 0 || this.#isClosed) return
    const look = async () => {
      for (const [name, link] of waiting) {
        // A server that does not answer is listed when it is connected again.
        if (await this.#isAnswered(name, link)) void link.refresh().catch(() => {})
      }
      this.#lookForAnswer()
    }
    this.#cancelLook = this.#host.clock.after(LOOK_MS, () => void look(), { background: true })
  }

  async #isAnswered(name: string, { serverTools }: ServerLink): Promise<boolean> {
    try {
      const pins = await this.#pins.list(name)
      if (serverTools.isUncompared) return this.#isNextTry(name)
      this.#readable.delete(name)
      const open = new Set(pins.flatMap((pin) => (pin.drifted || pin.isNew ? [pin.tool] : [])))
      return serverTools.acceptable.some((tool) => !open.has(tool))
    } catch {
      // Nothing is accepted while the pins cannot be read.
      return false
    }
  }

  /** After 1, 2, 4, 8 … looks, in case the pins can be read but not written. */
  #isNextTry(name: string): boolean {
    const looks = (this.#readable.get(name) ?? 0) + 1
    this.#readable.set(name, looks)
    return (looks & (looks - 1)) === 0
  }
}
