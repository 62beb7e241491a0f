const MOST_CHARS = 200

/** How much lines are like one: 0 to 1, the share of letter pairs that they have in common. */
export function likeness(wanted: string): (line: string) => number {
  const pairs = countPairs(wanted)
  const length = Math.min(wanted.length, MOST_CHARS) - 1
  return (line) => {
    const own = Math.min(line.length, MOST_CHARS) - 1
    // Too different in length to be alike, whatever they hold; most lines end here.
    if (own < 1 || length < 1 || own > length * 3 || length > own * 3) return 0
    const left = new Map(pairs)
    let common = 0
    for (let index = 0; index < own; index++) {
      const pair = line.slice(index, index + 2)
      const remaining = left.get(pair) ?? 0
      if (remaining === 0) continue
      left.set(pair, remaining - 1)
      common++
    }
    return (2 * common) / (own + length)
  }
}

function countPairs(text: string): Map<string, number> {
  const pairs = new Map<string, number>()
  for (let index = 0; index < Math.min(text.length, MOST_CHARS) - 1; index++) {
    const pair = text.slice(index, index + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}
