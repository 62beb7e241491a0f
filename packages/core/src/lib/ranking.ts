/** The usual constant of reciprocal rank fusion: the first places of each list stand out, and no list decides alone. */
const K = 60
const MAX_NUMBERS = 8_192

/** Merges ranked lists by reciprocal rank fusion: items near the top of several lists come first. */
export function mergeRanks<T>(
  lists: readonly (readonly T[])[],
  idOf: (item: T) => string | number,
): readonly [T, number][] {
  const scores = new Map<string | number, [T, number]>()
  for (const list of lists) {
    for (const [place, item] of list.entries()) {
      const [first, score] = scores.get(idOf(item)) ?? [item, 0]
      scores.set(idOf(item), [first, score + 1 / (K + place + 1)])
    }
  }
  return [...scores.values()].sort(([, a], [, b]) => b - a)
}

/** Scales a vector to length 1, so that the dot product of two is their cosine similarity. Throws if it is none. */
export function toUnitVector(numbers: unknown): Float32Array {
  const isList = Array.isArray(numbers) || numbers instanceof Float32Array
  if (!isList || numbers.length === 0 || numbers.length > MAX_NUMBERS)
    throw new TypeError(`embed did not return a vector of 1 to ${MAX_NUMBERS} numbers`)
  const vector = Float32Array.from(numbers)
  let squares = 0
  for (const value of vector) squares += value * value
  if (!Number.isFinite(squares) || squares === 0)
    throw new TypeError('embed returned a vector of zeros or of numbers that are not finite')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

/** The similarity of two vectors of length 1, from -1 to 1; 0 if they have different dimensions. */
export function likeness(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let sum = 0
  for (let place = 0; place < a.length; place++) sum += a[place]! * b[place]!
  return sum
}
