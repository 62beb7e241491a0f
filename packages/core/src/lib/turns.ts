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
