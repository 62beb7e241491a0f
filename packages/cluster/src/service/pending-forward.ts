import { Readable } from 'node:stream'
import type { Clock } from '@tool-hub/core'
import { z } from 'zod'

/** The path at which a process says how far it is with requests of another one. */
export const PROGRESS_PATH = '/cluster/progress'

/** How long nothing may arrive before the process is asked how far it is. */
const QUIET_MS = 10_000
/** Between two questions, and how long each may take: three in vain end a request within about 30 s. */
export const ASK_MS = 5_000
const MAX_MISSES = 3
const MAX_ASKED = 4_096

/** What a process asks: the nonces of its requests. */
export const askedSchema = z.strictObject({ nonces: z.array(z.string().max(256)).max(MAX_ASKED) })

/**
 * The answer: how much of the answer to each request was sent, see `SignedResponse`. A request that is missing was
 * answered to its end, or has never arrived.
 */
export const progressSchema = z.strictObject({ sent: z.array(z.tuple([z.string(), z.number()])) })

/** A request to another process, whose answer has not ended. */
export class PendingForward {
  /** The nonce of its signature. */
  nonce = ''
  readonly #clock: Clock
  readonly #gone = new AbortController()
  /** Since when its answer is awaited, and nothing arrives. */
  #quietSince: number | undefined
  #received = 0
  #misses = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#quietSince = clock.now()
  }

  /** Aborts when the request is given up. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Gives the request up. */
  readonly end = (reason: unknown): void => this.#gone.abort(reason)

  /** Whether so long nothing has arrived that the connection may be dead. Not while the reader is the slow one. */
  get isQuiet(): boolean {
    return this.#quietSince !== undefined && Math.abs(this.#clock.now() - this.#quietSince) >= QUIET_MS
  }

  /** Called with what its process has sent of the answer; `undefined` if the process could not be asked. */
  compare(sent: number | undefined): void {
    if (!this.isQuiet) return
    if (sent !== undefined && sent <= this.#received) this.#misses = 0
    else if (++this.#misses >= MAX_MISSES)
      this.end(new Error(`nothing has arrived from it for ${Math.round(this.#quietMs / 1000)} s`))
  }

  /** Reads the body of the answer, whose head has arrived. */
  read(body: Readable): Readable {
    this.#arrived(1)
    // An abort is reported to the reader; this stream may have no listener by then.
    body.on('error', () => {})
    const read = Readable.from(this.#chunks(body), { objectMode: false })
    read.once('close', () => body.destroy())
    return read
  }

  async *#chunks(body: Readable): AsyncGenerator<Buffer> {
    this.#quietSince = this.#clock.now()
    for await (const chunk of body as AsyncIterable<Buffer>) {
      this.#arrived(chunk.length)
      yield chunk
      this.#quietSince = this.#clock.now()
    }
  }

  #arrived(amount: number): void {
    this.#received += amount
    this.#quietSince = undefined
    this.#misses = 0
  }

  get #quietMs(): number {
    return this.#quietSince === undefined ? 0 : Math.abs(this.#clock.now() - this.#quietSince)
  }
}
