/**
 * Measures all contenders once a round, in turn (A, B, C, A, B, C, …), so that a slow moment of the machine meets each
 * of them. A contender is a function that returns its cost, in a unit of its own choice.
 * Gives back the costs by contender, one a round; the rounds that warm up are not among them.
 */
export async function measureInRounds(contenders, { rounds, warmUps = 3 }) {
  const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]))
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, measure] of Object.entries(contenders)) {
      collectYoungGarbage()
      const cost = await measure()
      if (round >= 0) samples[name].push(cost)
    }
  }
  return samples
}

/** Microseconds a call, one after another. */
export async function microsecondsEach(calls, call) {
  const start = performance.now()
  for (let index = 0; index < calls; index++) await call()
  return ((performance.now() - start) * 1_000) / calls
}

/** Milliseconds of one piece of work. */
export async function millisecondsOf(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The same for a function that never waits: at such a speed an `await` would be most of the figure. */
export function microsecondsEachSync(calls, call) {
  const start = performance.now()
  for (let index = 0; index < calls; index++) call()
  return ((performance.now() - start) * 1_000) / calls
}

/** Microseconds until the last of the calls, all in flight together, has returned. */
export async function microsecondsAtOnce(calls, call) {
  const start = performance.now()
  await Promise.all(Array.from({ length: calls }, (_, index) => call(index)))
  return (performance.now() - start) * 1_000
}

/**
 * Collects everything. V8 then discards optimised code whose objects are gone, as in a process that collects while no
 * call runs.
 */
export function collectAllGarbage() {
  globalThis.gc?.()
}

/** Nobody pays for the garbage of the contender before. */
function collectYoungGarbage() {
  globalThis.gc?.({ type: 'minor' })
}
