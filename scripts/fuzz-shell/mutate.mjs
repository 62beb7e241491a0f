// Makes a line of one that is known: a little put in, taken out, doubled or joined.
import { anyToken } from './token-soup.mjs'

/** The line after one to four changes. */
export function mutate(random, known, other) {
  let line = random.pick(known)
  for (let count = random.between(1, 4); count > 0; count -= 1) {
    const at = random.below(line.length + 1)
    const to = Math.min(line.length, at + random.between(1, 6))
    line = random.weighted([
      [5, () => line.slice(0, at) + anyToken(random) + line.slice(at)],
      [3, () => line.slice(0, at) + line.slice(to)],
      [1, () => line.slice(0, at) + anyToken(random) + line.slice(to)],
      [1, () => line.slice(0, to) + line.slice(at)],
      [1, () => line + random.pick(['; ', ' | ', '\n', ' && ', ' ']) + other()],
      [1, () => other() + random.pick(['; ', ' | ', '\n', ' && ', ' ']) + line],
      [1, () => line.slice(0, at) + random.pick(known).slice(0, 60) + line.slice(at)],
    ])
  }
  return line.slice(0, 4_000)
}
