import { setMaxListeners } from 'node:events'
import { type Clock, systemClock, ToolError } from '../../core/index.ts'
import { throwIfAborted } from '../throw-if-aborted.ts'
import type { NetworkCall } from './send-hop.ts'

/**
 * One time limit over everything that a request needs: names, connections, hops, pauses and the body. A request does
 * one thing at a time, so one listener is enough; `during` says what is to stop just now.
 */
export class RequestDeadline implements TimedEntry {
  readonly endsAt: number
  readonly #watch: DeadlineWatch
  readonly #timeoutMs: number
  #stopListening: (() => void) | undefined
  #onEnd: ((reason: unknown) => void) | undefined
  #reason: unknown

  constructor(watch: DeadlineWatch, call: Pick<NetworkCall, 'signal' | 'onStop'>, timeoutMs: number) {
    this.#watch = watch
    this.#timeoutMs = timeoutMs
    this.endsAt = watch.now() + timeoutMs
    const { onStop = (listener) => onAbort(call.signal(), listener) } = call
    watch.add(this)
    this.#stopListening = onStop((reason) => this.#end(reason))
    // It may have told immediately.
    if (this.#reason !== undefined) this.stop()
  }

  /** Milliseconds that are left. */
  get leftMs(): number {
    return this.endsAt - this.#watch.now()
  }

  /** Throws HTTP_TIMEOUT or the caller's reason once it is over. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  /** What to stop when it is over; replaces what was to stop before. */
  during(stop: (reason: unknown) => void): void {
    if (this.#reason !== undefined) stop(this.#reason)
    else this.#onEnd = stop
  }

  /** Waits for something that cannot be stopped, no longer than the deadline. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.during(reject)
      promise.then(resolve, reject)
    })
  }

  /** Lets time pass. */
  pause(ms: number, clock: Clock): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ms, resolve)
      this.during((reason) => {
        cancel()
        reject(reason)
      })
    })
  }

  /** The request has ended; nothing is stopped any more. */
  stop(): void {
    this.#onEnd = undefined
    this.#watch.remove(this)
    this.#stopListening?.()
  }

  expire(): void {
    this.#end(new ToolError('HTTP_TIMEOUT', `The request did not finish in ${this.#timeoutMs} ms.`))
  }

  #end(reason: unknown): void {
    const onEnd = this.#onEnd
    this.#reason = reason
    this.stop()
    onEnd?.(reason)
  }
}

function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const forward = () => listener(reasonOf(signal))
  if (signal.aborted) forward()
  // A tool may send many requests concurrently, and every listener goes when its request ends: no leak to warn of.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', forward)
  return () => signal.removeEventListener('abort', forward)
}

/** The reason that the pipeline gave when it stopped the call. */
function reasonOf(signal: AbortSignal): unknown {
  try {
    throwIfAborted(signal)
    return undefined
  } catch (reason) {
    return reason
  }
}

/** An entry that expires at a time unless it is removed before. */
interface TimedEntry {
  /** A time of `DeadlineWatch.now`. */
  readonly endsAt: number
  expire(): void
}

/**
 * One timer for all requests of a guard. Setting and clearing a timer for each took a tenth of a short request; this
 * one is set for the earliest end and looks again when it fires.
 */
export class DeadlineWatch {
  readonly #clock: Clock
  readonly #active = new Set<TimedEntry>()
  #firesAt = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time that only ever moves on: the day of the machine's clock may be set while a request runs. */
  now(): number {
    return this.#clock === systemClock ? performance.now() : this.#clock.now()
  }

  add(watched: TimedEntry): void {
    this.#active.add(watched)
    if (watched.endsAt < this.#firesAt) this.#setTimer(watched.endsAt)
  }

  remove(watched: TimedEntry): void {
    this.#active.delete(watched)
  }

  close(): void {
    this.#cancel?.()
  }

  #setTimer(at: number): void {
    this.#cancel?.()
    this.#firesAt = at
    // In the background: a request under way keeps the process alive by its socket, and after it nothing should.
    this.#cancel = this.#clock.after(Math.max(0, at - this.now()), () => this.#fire(), { background: true })
  }

  #fire(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    const now = this.now()
    let next = Number.POSITIVE_INFINITY
    for (const watched of this.#active) {
      if (watched.endsAt <= now) watched.expire()
      else next = Math.min(next, watched.endsAt)
    }
    if (next < this.#firesAt) this.#setTimer(next)
  }
}
