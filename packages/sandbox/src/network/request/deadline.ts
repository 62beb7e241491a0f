import { setMaxListeners } from 'node:events'
import { type Clock, systemClock, ToolError, throwIfAborted } from '@tool-hub/core'

/** How a request learns that its call was stopped. */
export interface CallStop {
  /** Aborts when the call is stopped or has timed out. */
  readonly signal: () => AbortSignal
  /** Calls the listener with the reason when the call is stopped; cheaper than a signal. Returns a function that unsubscribes. */
  readonly onStop?: (listener: (reason: unknown) => void) => () => void
}

/**
 * One time limit over everything that a request needs: names, connections, hops, pauses and the body. A request does
 * one thing at a time, so one listener is enough; `during` sets what is stopped when the time is over.
 */
export class RequestDeadline implements TimedEntry {
  readonly endsAt: number
  slot = -1
  readonly #watch: DeadlineWatch
  readonly #timeoutMs: number
  #stopListening: (() => void) | undefined
  #onEnd: ((reason: unknown) => void) | undefined
  #reason: unknown

  constructor(watch: DeadlineWatch, call: CallStop, timeoutMs: number) {
    this.#watch = watch
    this.#timeoutMs = timeoutMs
    this.endsAt = watch.now() + timeoutMs
    const { onStop = (listener) => onAbort(call.signal(), listener) } = call
    watch.add(this)
    this.#stopListening = onStop((reason) => this.#end(reason))
    // The listener may have been called immediately.
    if (this.#reason !== undefined) this.stop()
  }

  /** The remaining time in milliseconds. */
  get leftMs(): number {
    return this.endsAt - this.#watch.now()
  }

  /** Throws HTTP_TIMEOUT or the caller's reason once it is over. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  /** Sets what is stopped when the time is over; replaces the previous one. */
  during(stop: (reason: unknown) => void): void {
    if (this.#reason !== undefined) stop(this.#reason)
    else this.#onEnd = stop
  }

  /** Waits for something that cannot be stopped, but no longer than until the deadline. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.during(reject)
      promise.then(resolve, reject)
    })
  }

  /** Pauses; rejects if the deadline comes first. */
  pause(ms: number, clock: Clock): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ms, resolve)
      this.during((reason) => {
        cancel()
        reject(reason)
      })
    })
  }

  /** Ends the deadline of a request that has ended. */
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

/** Calls the listener with the reason when a signal aborts; returns a function that unsubscribes. */
export function onAbort(
  signal: AbortSignal,
  listener: (reason: unknown) => void,
  reasonOf: (signal: AbortSignal) => unknown = abortReason,
): () => void {
  const forward = () => listener(reasonOf(signal))
  if (signal.aborted) forward()
  // Many requests may share a signal, and each listener is removed when its request ends: this is not a leak.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', forward)
  return () => signal.removeEventListener('abort', forward)
}

/** The reason that the pipeline gave when it stopped the call. */
export function abortReason(signal: AbortSignal): unknown {
  try {
    throwIfAborted(signal)
    return undefined
  } catch (reason) {
    return reason
  }
}

/** An entry that expires at a given time, unless it is removed before. */
interface TimedEntry {
  /** A time of `DeadlineWatch.now`. */
  readonly endsAt: number
  /** Its index in the watch. */
  slot: number
  expire(): void
}

/**
 * One timer for all requests of a guard. Setting and clearing a timer for each took a tenth of a short request; this
 * one is set for the earliest deadline and checks again when it fires.
 */
export class DeadlineWatch {
  readonly #clock: Clock
  /**
   * Not a Set: V8 replaces its table every few additions, and once a replaced table is in the old generation, all later
   * tables and their entries stay until a full collection (0.3 KB per request).
   */
  readonly #active: TimedEntry[] = []
  #firesAt = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Monotonic time: the machine's clock may be set while a request runs. */
  now(): number {
    return this.#clock === systemClock ? performance.now() : this.#clock.now()
  }

  add(watched: TimedEntry): void {
    watched.slot = this.#active.length
    this.#active.push(watched)
    if (watched.endsAt < this.#firesAt) this.#setTimer(watched.endsAt)
  }

  remove(watched: TimedEntry): void {
    const { slot } = watched
    if (this.#active[slot] !== watched) return
    const last = this.#active.pop()!
    if (last === watched) return
    this.#active[slot] = last
    last.slot = slot
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
    for (const watched of [...this.#active]) {
      if (watched.endsAt <= now) watched.expire()
      else next = Math.min(next, watched.endsAt)
    }
    if (next < this.#firesAt) this.#setTimer(next)
  }
}
