/** The usual number of reciprocal rank fusion: the first places of each list stand out, and none decides alone. */
const K = 60

/** One list of several, each best first: what several lists have near their beginning comes first. */
export function mergeRanks<T>(lists: readonly (readonly T[])[], idOf: (item: T) => string): readonly [T, number][] {
  const scores = new Map<string, [T, number]>()
  for (const list of lists) {
    for (const [place, item] of list.entries()) {
      const [first, score] = scores.get(idOf(item)) ?? [item, 0]
      scores.set(idOf(item), [first, score + 1 / (K + place + 1)])
    }
  }
  return [...scores.values()].sort(([, a], [, b]) => b - a)
}
