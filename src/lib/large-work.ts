/** Work on less than this takes about a millisecond, which nobody else notices. */
const LARGE_BYTES = 65_536

const waiting: (() => void)[] = []

/**
 * Divides work on large values, so that it does not block the event loop as a whole: resolves in a later turn of the
 * loop, of all that wait one in each turn, in their order. Undefined for small values, whose work continues immediately.
 */
export function turnFor(bytes: number): Promise<void> | undefined {
  if (bytes < LARGE_BYTES) return undefined
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(startNext)
  })
}

function startNext(): void {
  waiting.shift()!()
  if (waiting.length > 0) setImmediate(startNext)
}
