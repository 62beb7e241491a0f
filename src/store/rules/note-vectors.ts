/** The vectors that one recall compares are those of so many notes of each scope, the last written. */
export const MOST_VECTORS = 5_000

/** How far two vectors of length 1 point the same way, -1 to 1; nothing where they are not of the same kind. */
export function likeness(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let sum = 0
  for (let place = 0; place < a.length; place++) sum += a[place]! * b[place]!
  return sum
}
