import type { McpServer } from '../../options.ts'
import type { SourceHost } from '../../source.ts'
import type { References } from './fill-references.ts'
import type { McpServerStatus } from './mcp-source.ts'
import { Pins } from './pins.ts'
import { ServerLink } from './server-link.ts'

/** All servers of a source while it is connected. */
export class RunningServers {
  readonly #servers: Readonly<Record<string, McpServer>>
  readonly #links = new Map<string, ServerLink>()
  readonly #host: SourceHost
  readonly #pins: Pins
  readonly #refused = new Set<string>()

  constructor(
    servers: Readonly<Record<string, McpServer>>,
    { host, env }: { readonly host: SourceHost; readonly env: References['env'] },
  ) {
    this.#servers = servers
    this.#host = host
    this.#pins = new Pins(host.data)
    const enabled = Object.entries(servers).filter(([, server]) => server.disabled !== true)
    const names = Object.keys(servers)
    // The longest first: on the wire a tool of `a_b` begins like one of `a`.
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
      const { leftOut } = shelf
      const tools = shelf.tools.map((tool) => tool.name)
      if (connection) return { name, state: 'connected', era: connection.era, tools, leftOut }
      return problem ? { name, state: 'down', tools, leftOut, problem } : { name, state: 'connecting', tools, leftOut }
    })
  }

  async accept(server: string): Promise<readonly string[]> {
    const accepted = this.#pins.accept(server)
    await this.#links.get(server)?.refresh()
    return accepted.map(({ tool }) => tool)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()))
  }

  /** A call by a name of the server waits for it; one that is down is tried again for each such call. */
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
  }
}
