import { failAtRunTime, lazyModule, ToolError } from '@tool-hub/core'
import type { Client, ClientConfig } from 'pg'

const loadPackage = lazyModule(() => import('pg').catch(failAtRunTime), { isPreloaded: false })

/** Loads `pg`, an optional dependency. */
export async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await loadPackage()
  } catch (cause) {
    throw new ToolError('CONFIG_INVALID', 'The package pg, which a store on PostgreSQL needs, is missing.', {
      hint: 'npm install pg',
      cause,
    })
  }
}

const MIN_PAUSE_MS = 500
const MAX_PAUSE_MS = 10_000

/** What a listener needs. */
export interface ListenerOptions {
  readonly config: ClientConfig
  /** The channel, as a name that needs no quotes. */
  readonly channel: string
  /** Notices with this text are our own. */
  readonly ownNotice: string
}

/**
 * Receives the notices of other processes on a connection of its own, which is made again whenever it is lost. Notices may
 * be missed: they only make the next look come earlier.
 */
export class Listener {
  readonly #options: ListenerOptions
  readonly #listeners = new Set<() => void>()
  #client: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #pauseMs = MIN_PAUSE_MS
  #isClosed = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  add(onNotice: () => void): () => void {
    this.#listeners.add(onNotice)
    if (this.#listeners.size === 1) void this.#connect()
    return () => {
      this.#listeners.delete(onNotice)
      if (this.#listeners.size === 0) void this.#disconnect()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listeners.clear()
    await this.#disconnect()
  }

  async #connect(): Promise<void> {
    if (this.#client || this.#isClosed || this.#listeners.size === 0) return
    let client: Client | undefined
    try {
      const { Client } = await loadPg()
      if (this.#client || this.#isClosed || this.#listeners.size === 0) return
      client = new Client(this.#options.config)
      this.#client = client
      client.on('error', () => this.#lose(client))
      client.on('end', () => this.#lose(client))
      client.on('notification', ({ payload }) => {
        if (payload !== this.#options.ownNotice) this.#call()
      })
      await client.connect()
      await client.query(`LISTEN ${this.#options.channel}`)
      // It keeps no process running; the types of the package do not know the method.
      ;(client as Client & { unref(): void }).unref()
      this.#pauseMs = MIN_PAUSE_MS
      // Whatever was sent while nobody listened.
      this.#call()
    } catch {
      this.#lose(client)
    }
  }

  #lose(client: Client | undefined): void {
    if (client !== this.#client) return
    this.#client = undefined
    client?.end().catch(() => {})
    if (this.#isClosed || this.#listeners.size === 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#connect(), this.#pauseMs).unref()
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS)
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }

  #call(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
