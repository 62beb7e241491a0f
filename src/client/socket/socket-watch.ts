import type { ClientMessage, ServiceEvent } from '../../protocol/index.ts'
import type { LinkMessage, SocketLink } from './socket-link.ts'

/** What can be watched over a WebSocket. */
export type Watched = Extract<ClientMessage, { type: 'watch' }>['events'][number]

interface Watcher {
  readonly types: ReadonlySet<string>
  readonly listener: (event: ServiceEvent) => void
}

/** Who listens to which events of a link. */
export class SocketWatch {
  readonly #link: SocketLink
  readonly #watchers = new Set<Watcher>()

  constructor(link: SocketLink) {
    this.#link = link
  }

  add(types: readonly Watched[], listener: (event: ServiceEvent) => void): () => void {
    const watcher = { types: new Set<string>(types), listener }
    this.#watchers.add(watcher)
    this.tell()
    return () => {
      if (this.#watchers.delete(watcher)) this.tell()
    }
  }

  take(message: LinkMessage): boolean {
    if (message.type !== 'event') return false
    this.#pass(message.event)
    return true
  }

  /** Says what is watched now. */
  tell(): void {
    const events = [...new Set([...this.#watchers].flatMap(({ types }) => [...types]))] as Watched[]
    this.#link.send({ type: 'watch', events })
  }

  /** The server has forgotten what was watched, and so what was missed. */
  startAnew(): void {
    if (this.#watchers.size === 0) return
    this.tell()
    this.#pass({ type: 'reset' })
  }

  #pass(event: ServiceEvent): void {
    for (const { types, listener } of [...this.#watchers]) {
      if (event.type === 'reset' || types.has(event.type)) listener(event)
    }
  }
}
