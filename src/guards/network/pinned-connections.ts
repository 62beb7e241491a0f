import type { Client, Dispatcher } from 'undici'
import { lazyModule } from '../../disk/lazy-module.ts'
import { ToolError } from '../../errors.ts'
import { type ConnectOptions, connectPinned } from './connect-pinned.ts'

const loadUndici = lazyModule(() => import('undici'))

const MOST_IDLE = 128
// The deadline of the request is over all of it; undici's own timers would only add surprises.
const NO_OWN_LIMITS = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32_768 }

/** The connections of a guard: one request at a time on each, kept alive for the same origin at the same address only. */
export class PinnedConnections {
  readonly #options: ConnectOptions
  readonly #all = new Set<PinnedConnection>()
  /** By address and origin; the connection that was used last is at the end. */
  readonly #idle = new Map<string, PinnedConnection[]>()
  #idleCount = 0
  #undici: typeof import('undici') | undefined
  #isClosed = false

  constructor(options: ConnectOptions) {
    this.#options = options
  }

  /** Loads undici with the first request: most hubs never make one. Undefined when that is done. */
  load(): Promise<void> | undefined {
    if (this.#undici) return undefined
    return loadUndici().then((undici) => {
      this.#undici = undici
    })
  }

  /** A connection that nobody uses, to this very address; made on its first request when there is none. */
  take(address: string, origin: string): PinnedConnection {
    if (this.#isClosed) throw closed()
    const key = `${address} ${origin}`
    const idle = this.#idle.get(key)
    const kept = idle?.pop()
    if (kept) {
      this.#idleCount -= 1
      if (idle!.length === 0) this.#idle.delete(key)
      kept.isIdle = false
      return kept
    }
    const connection = new PinnedConnection(key, this, (hold) => {
      const connect = connectPinned(address, this.#options, hold)
      return new this.#undici!.Client(origin, { connect, ...NO_OWN_LIMITS })
    })
    this.#all.add(connection)
    return connection
  }

  /** Takes a connection back whose request is over. */
  keep(connection: PinnedConnection): void {
    const list = this.#idle.get(connection.key)
    if (list) list.push(connection)
    else this.#idle.set(connection.key, [connection])
    connection.isIdle = true
    this.#idleCount += 1
    // A map keeps its order: the first is the place that was kept first.
    if (this.#idleCount > MOST_IDLE) void this.#idle.values().next().value![0]!.destroy()
  }

  /** Forgets a connection that is gone. */
  drop(connection: PinnedConnection): void {
    this.#all.delete(connection)
    if (!connection.isIdle) return
    const left = this.#idle.get(connection.key)!.filter((other) => other !== connection)
    if (left.length > 0) this.#idle.set(connection.key, left)
    else this.#idle.delete(connection.key)
    this.#idleCount -= 1
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#all].map((connection) => connection.destroy(closed())))
  }
}

/** One connection to one address. */
export class PinnedConnection {
  readonly key: string
  isIdle = false
  readonly #home: PinnedConnections
  readonly #client: Client
  #giveUp: (() => void) | undefined

  constructor(
    key: string,
    home: PinnedConnections,
    makeClient: (hold: (giveUp: (() => void) | undefined) => void) => Client,
  ) {
    this.key = key
    this.#home = home
    this.#client = makeClient((giveUp) => {
      this.#giveUp = giveUp
    })
    // The server, or undici after some idle seconds, has closed it.
    this.#client.on('disconnect', () => this.isIdle && this.destroy())
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler)
  }

  /** Gives it back for the next request. */
  release(): void {
    if (!this.#client.destroyed) this.#home.keep(this)
  }

  /** Closes it at whatever it is: connecting, waiting or in the middle of a body. */
  destroy(reason?: Error): Promise<void> {
    this.#home.drop(this)
    this.isIdle = false
    const gone = this.#client.destroy(reason ?? null)
    this.#giveUp?.()
    return gone
  }
}

function closed(): ToolError {
  return new ToolError('ABORTED', 'The network guard is closed.')
}
