import type { McpServer, SourceHost } from '../../core/index.ts'
import type { McpServerStatus } from './mcp-source.ts'
import { Pins } from './pins.ts'
import type { ReferenceSources } from './resolve-server.ts'
import { ServerLink } from './server-link.ts'

/** Interval of checks whether the owner accepted a change. */
const LOOK_MS = 2_000

/** All servers of a source while it is connected. */
export class RunningServers {
  readonly #servers: Readonly<Record<string, McpServer>>
  readonly #links = new Map<string, ServerLink>()
  readonly #host: SourceHost
  readonly #pins: Pins
  readonly #refused = new Set<string>()
  #cancelLook: (() => void) | undefined
  #isClosed = false

  constructor(
    servers: Readonly<Record<string, McpServer>>,
    { host, env }: { readonly host: SourceHost; readonly env: ReferenceSources['env'] },
  ) {
    this.#servers = servers
    this.#host = host
    this.#pins = new Pins(host.data)
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
      const { connection, problem, shelf } = link
      const { leftOut, changed } = shelf
      const tools = shelf.tools.map((tool) => tool.name)
      const about = { name, tools, leftOut, ...(changed.length > 0 && { changed }) }
      if (connection) return { ...about, state: 'connected', era: connection.era }
      return problem ? { ...about, state: 'down', problem } : { ...about, state: 'connecting' }
    })
  }

  async accept(server: string): Promise<readonly string[]> {
    const accepted = this.#pins.accept(server)
    await this.#links.get(server)?.refresh()
    return accepted.map(({ tool }) => tool)
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
    const refused = this.#host.offer([...this.#links.values()].flatMap(({ shelf }) => shelf.tools))
    for (const { name, why } of refused) {
      const told = `${name} is left out: ${why}`
      if (!this.#refused.has(told)) this.#host.warn(told)
      this.#refused.add(told)
    }
    this.#lookForAnswer()
  }

  /** While something waits for the owner, notices `tool-hub mcp pin` of another process. */
  #lookForAnswer(): void {
    this.#cancelLook?.()
    this.#cancelLook = undefined
    const waiting = [...this.#links].filter(([, { shelf }]) => shelf.acceptable.length > 0)
    if (waiting.length === 0 || this.#isClosed) return
    const look = () => {
      for (const [name, link] of waiting) {
        // A server that does not answer is listed when it is connected again.
        if (this.#isAnswered(name, link)) void link.refresh().catch(() => {})
      }
      this.#lookForAnswer()
    }
    this.#cancelLook = this.#host.clock.after(LOOK_MS, look, { background: true })
  }

  #isAnswered(name: string, { shelf }: ServerLink): boolean {
    try {
      const open = new Set(this.#pins.list(name).flatMap((pin) => (pin.drifted || pin.isNew ? [pin.tool] : [])))
      return shelf.acceptable.some((tool) => !open.has(tool))
    } catch {
      // Nothing is accepted while the pins cannot be read.
      return false
    }
  }
}
