import type { Socket } from 'node:net'
import { ToolError } from '../../../errors.ts'
import type { ProxyLimits } from './proxy-limits.ts'
import { type ProxyNetwork, Visit } from './visit.ts'

/** All that goes through one proxy at a time: who is there, how much has passed, and how to end it. */
export class ProxyUse {
  readonly #network: ProxyNetwork
  readonly #limits: ProxyLimits
  readonly #sockets = new Set<Socket>()
  readonly #visits = new Set<Visit>()
  readonly #begun = new WeakSet<Socket>()
  readonly #waiting = new WeakMap<Socket, NodeJS.Timeout>()
  #bytes = 0
  #ended: ToolError | undefined

  constructor(network: ProxyNetwork, limits: ProxyLimits) {
    this.#network = network
    this.#limits = limits
  }

  /** A client has connected, and has some time to say what it wants. */
  welcome(client: Socket): void {
    // Always there: an error of a socket that nobody listens to would end the process.
    client.on('error', () => client.destroy())
    this.#keep(client)
    const timer = setTimeout(() => client.destroy(), this.#limits.openMs)
    this.#waiting.set(client, timer)
    client.once('close', () => clearTimeout(timer))
  }

  /** A client has said what it wants. */
  begin(client: Socket, asked: string): Visit {
    clearTimeout(this.#waiting.get(client))
    this.#begun.add(client)
    const visit = new Visit(this.#network, asked, (socket) => this.#keep(socket))
    this.#visits.add(visit)
    client.once('close', () => this.#visits.delete(visit))
    if (this.#ended) visit.stop(this.#ended)
    return visit
  }

  /** True when a client has said what it wants. */
  hasBegun(client: Socket): boolean {
    return this.#begun.has(client)
  }

  /** Bytes have passed; when they are too many, nothing passes any more. */
  readonly count = (bytes: number): void => {
    this.#bytes += bytes
    // Written so that a limit which is no number stops everything.
    if (this.#bytes <= this.#limits.maxBytes) return
    this.end(
      new ToolError('HTTP_TOO_LARGE', `More than ${this.#limits.maxBytes} bytes went through the proxy.`, {
        hint: 'Fetch less in one command.',
      }),
    )
  }

  /** Ends all there is and all that comes. */
  end(reason: ToolError): void {
    this.#ended = reason
    for (const visit of this.#visits) visit.stop(reason)
    for (const socket of this.#sockets) socket.destroy()
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
