import type { Dispatcher } from 'undici'
import type { PinnedConnection } from './pinned-connections.ts'

const MAX_WAITING_BYTES = 262_144

type Controller = Dispatcher.DispatchController
type RawHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * One request and its answer on one connection. undici calls the `on…` methods; the others are for the one who asked.
 * The connection goes back when the answer is complete, and is closed in every other case.
 */
export class Transfer implements Dispatcher.DispatchHandler, AsyncIterable<Buffer>, AsyncIterator<Buffer, undefined> {
  status = 0
  headers: Readonly<Record<string, string>> = {}
  readonly #connection: PinnedConnection
  readonly #chunks: Buffer[] = []
  #waitingBytes = 0
  #controller: Controller | undefined
  #isComplete = false
  #isCollected = false
  #error: unknown
  /** Runs whenever something has arrived: headers, bytes, the end, an error. */
  #wake: (() => void) | undefined

  constructor(connection: PinnedConnection) {
    this.#connection = connection
  }

  /** Sends the request; resolves when the headers of the answer are there. */
  send(options: Dispatcher.DispatchOptions): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#error !== undefined) reject(this.#error)
        else if (this.status > 0) resolve(this)
      }
      if (this.#error === undefined) this.#connection.dispatch(options, this)
      else reject(this.#error)
    })
  }

  /** The whole body, or what there is of it once it has more bytes than the limit. */
  collect(limit: number): Promise<Buffer[]> {
    this.#isCollected = true
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#error !== undefined) reject(this.#error)
        // Written so that a limit which is no number stops everything.
        else if (this.#isComplete || !(this.#waitingBytes <= limit)) resolve(this.#chunks)
      }
      this.#controller?.resume()
      this.#wake()
    })
  }

  /** The body as it comes; the server waits while it is not read. */
  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#error === undefined && !this.#isComplete && this.#chunks.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#controller?.resume()
      })
    }
    if (this.#error !== undefined) throw this.#error
    const chunk = this.#chunks.shift()
    if (!chunk) return { done: true, value: undefined }
    this.#waitingBytes -= chunk.length
    return { done: false, value: chunk }
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.discard()
    return { done: true, value: undefined }
  }

  /** Ends it for a reason that anyone who waits will hear; an answer that is complete but unread is lost, too. */
  abort(reason: unknown): void {
    if (this.#error !== undefined) return
    this.#error = reason
    if (!this.#isComplete) void this.#connection.destroy()
    this.#wake?.()
  }

  /** Gives up what was not read; the connection goes with it unless the answer is complete. */
  discard(): void {
    this.#wake = undefined
    this.#chunks.length = 0
    if (!this.#isComplete) this.abort(new Error('The body was given up.'))
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
  }

  onResponseStart(_: Controller, status: number, headers: RawHeaders): void {
    // 1xx only announces the answer.
    if (status < 200) return
    this.status = status
    this.headers = joinRepeated(headers)
    this.#wake?.()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#error !== undefined) return
    this.#chunks.push(chunk)
    this.#waitingBytes += chunk.length
    if (!this.#isCollected && this.#waitingBytes > MAX_WAITING_BYTES) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    if (this.#error !== undefined) return
    this.#isComplete = true
    this.#connection.release()
    this.#wake?.()
  }

  onResponseError(_: Controller, error: Error): void {
    this.abort(error)
  }
}

/** undici gives a list for a header that came more than once. */
function joinRepeated(headers: RawHeaders): Readonly<Record<string, string>> {
  for (const name in headers) {
    const value = headers[name]
    // An own property of that name exists, so that even `__proto__` is only a name here.
    if (Array.isArray(value)) Object.defineProperty(headers, name, { value: value.join(', '), enumerable: true })
  }
  // A tool gets these very headers, and so may the next one, from the cache.
  return Object.freeze(headers as Record<string, string>)
}
