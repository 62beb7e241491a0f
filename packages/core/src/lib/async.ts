/** A value, or the promise of one: an embedded store answers synchronously, a database server does not. */
export type Awaitable<T> = T | Promise<T>

/** Passes a value to `go`: synchronously if it is there already, so that a call which need not wait does not. */
export function after<T, R>(value: T | Promise<T>, go: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(go) : go(value)
}

/** Waits for all, then throws the first failure, so that nothing is still running when the caller cleans up. */
export async function allSettled<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const results: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(work)
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return Promise.all(work)
}

/**
 * Runs asynchronous work once, on the first call, and shares its result. After a failure, the next call tries again.
 */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let working: Promise<T> | undefined
  return () => {
    working ??= work().catch((error) => {
      working = undefined
      throw error
    })
    return working
  }
}

/** Something that is made at its first use, because its code is loaded only then. */
export class Later<T> {
  readonly #make: () => Promise<T>
  #making: Promise<T> | undefined
  #made: T | undefined

  /** @param make Makes it; after a failure, the next use tries again. */
  constructor(make: () => Promise<T>) {
    this.#make = once(async () => {
      this.#made = await make()
      return this.#made
    })
  }

  /** It, if it has been made. */
  get made(): T | undefined {
    return this.#made
  }

  /** Makes it, unless that has been done. */
  get(): Promise<T> {
    this.#making = this.#make()
    return this.#making
  }

  /** Passes it to `work`: synchronously if it has been made. */
  use<R>(work: (value: T) => R | Promise<R>): R | Promise<R> {
    return this.#made === undefined ? this.get().then(work) : work(this.#made)
  }

  /** Closes it; waits for one that is being made. What was never used is not made for that. */
  async close(close: (value: T) => void | Promise<void>): Promise<void> {
    const value = await this.#making?.catch(() => undefined)
    if (value !== undefined) await close(value)
  }
}

/** Waits for `work` until the signal aborts; then rejects with the signal's reason while the work itself continues. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Work on less than this takes about a millisecond. It is also what all calls together may start with in one turn. */
const LARGE_BYTES = 65_536
/** What a call counts for at least: 64 small ones start in one turn, so that one write to the record serves them. */
const MIN_BYTES = 1_024

/** Work that waits for its turn. */
interface Waiting {
  readonly bytes: number
  readonly start: () => void
}

/** The work that waits, by principal; the first key has its turn next. The owner of the hub has no principal. */
const queues = new Map<string | undefined, Waiting[]>()
let bytesLeft = LARGE_BYTES
let isNextPlanned = false

/**
 * Spreads work on large values over turns of the event loop, so that it is not blocked for long: each turn starts one
 * piece of work. Principals take turns, and the work of one is started in order. Returns `undefined` for a small value,
 * whose work need not wait.
 */
export function turnFor(bytes: number, principal: string | undefined): Promise<void> | undefined {
  return bytes < LARGE_BYTES ? undefined : waitForTurn(bytes, principal)
}

/**
 * The same for a call that begins: small calls of principals wait, too, if many began in this turn of the event loop, so
 * that the next call of another principal waits for a few of them and not for all.
 */
export function turnToBegin(bytes: number, principal: string | undefined): Promise<void> | undefined {
  if (bytes >= LARGE_BYTES) return waitForTurn(bytes, principal)
  if (principal === undefined) return undefined
  if (bytesLeft <= 0 || queues.has(principal)) return waitForTurn(bytes, principal)
  bytesLeft -= Math.max(bytes, MIN_BYTES)
  planNext()
  return undefined
}

function waitForTurn(bytes: number, principal: string | undefined): Promise<void> {
  return new Promise((start) => {
    const queue = queues.get(principal)
    if (queue) queue.push({ bytes, start })
    else queues.set(principal, [{ bytes, start }])
    planNext()
  })
}

function planNext(): void {
  if (isNextPlanned) return
  isNextPlanned = true
  setImmediate(startNext)
}

function startNext(): void {
  isNextPlanned = false
  bytesLeft = LARGE_BYTES
  for (const [principal, queue] of queues) {
    if (bytesLeft <= 0) break
    const { bytes, start } = queue.shift()!
    bytesLeft -= Math.max(bytes, MIN_BYTES)
    // The principal moves behind the others, where this loop meets it again.
    queues.delete(principal)
    if (queue.length > 0) queues.set(principal, queue)
    start()
  }
  if (bytesLeft < LARGE_BYTES) planNext()
}
