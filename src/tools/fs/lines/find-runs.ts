/** Where to look, and how much is enough. */
interface RunOptions {
  readonly from?: number
  readonly most?: number
  /** Runs that share lines count, each of them. Default: true. */
  readonly mayOverlap?: boolean
}

/**
 * Where a run of lines (or of characters) stands in others, in time that grows with their sum (Knuth, Morris,
 * Pratt): both may come from somebody who wants it to take long.
 */
export function findRuns<T extends string | number>(
  lines: ArrayLike<T>,
  run: ArrayLike<T>,
  { from = 0, most = 1_000, mayOverlap = true }: RunOptions = {},
): number[] {
  if (run.length === 0 || run.length > lines.length) return []
  const fallback = fallbacks(run)
  const found: number[] = []
  let matched = 0
  for (let index = from; index < lines.length && found.length < most; index++) {
    while (matched > 0 && run[matched] !== lines[index]) matched = fallback[matched - 1]!
    if (run[matched] === lines[index]) matched++
    if (matched < run.length) continue
    found.push(index - run.length + 1)
    matched = mayOverlap ? fallback[matched - 1]! : 0
  }
  return found
}

/** For each prefix of the run: how much of its end is its beginning again. */
function fallbacks(run: ArrayLike<string | number>): Uint32Array {
  const fallback = new Uint32Array(run.length)
  let matched = 0
  for (let index = 1; index < run.length; index++) {
    while (matched > 0 && run[matched] !== run[index]) matched = fallback[matched - 1]!
    if (run[matched] === run[index]) matched++
    fallback[index] = matched
  }
  return fallback
}
