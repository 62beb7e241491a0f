/** The milliseconds of processor time that some work takes, which other work on the machine does not change. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** How often work is repeated before it counts as too slow: caches and clocks are shared with other work. */
const MAX_ROUNDS = 60

/** The least processor time that work takes, in rounds that end with the first one below a limit. */
export function leastCpuMs(work: () => void, limitMs: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < MAX_ROUNDS && least >= limitMs; round++) least = Math.min(least, cpuMs(work))
  return least
}
