// Chance that can be had again: the same seed gives the same lines.

/** Draws from a seed (any 32-bit number). */
export function createRandom(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count) => Math.floor(next() * count)
  const pick = (items) => items[below(items.length)]
  return {
    below,
    pick,
    chance: (share) => next() < share,
    /** Between two numbers, both included. */
    between: (least, most) => least + below(most - least + 1),
    /** One of the functions, drawn by weight and called: `[[3, a], [1, b]]`. */
    weighted(choices) {
      const total = choices.reduce((sum, [weight]) => sum + weight, 0)
      let left = next() * total
      for (const [weight, make] of choices) {
        left -= weight
        if (left < 0) return make()
      }
      return choices[0][1]()
    },
    times: (count, make) => Array.from({ length: count }, make),
  }
}
