import { setTimeout as pause } from 'node:timers/promises'
import { commandHub, runTrue, spawnTrue } from '../lib/commands.mjs'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { openSandboxRuntime } from '../lib/sandbox-runtime.mjs'
import { quantile } from '../lib/statistics.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 20
/** Agents think between two commands; a sandbox is made ready in that time, and counts in nobody's. A rested machine is slower. */
const THINKING_MS = 25

/** A governed, sandboxed `true`: in a new sandbox, and in a warm one; as p50 of some calls a round. */
export default async function commandStart({ rounds }) {
  return withTempFolder(async (folder) => {
    const cold = await commandHub(`${folder}/cold`, { prepared: 0 })
    const ready = await commandHub(`${folder}/ready`)
    // It needs programs that not every machine has.
    const peer = await openSandboxRuntime(folder).catch(() => undefined)
    const samples = await measureInRounds(
      {
        plain: () => typical(spawnTrue),
        cold: () => typical(() => runTrue(cold)),
        coldRested: () => typical(() => runTrue(cold), THINKING_MS),
        ready: () => typical(() => runTrue(ready), THINKING_MS),
        rested: () => typical(spawnTrue, THINKING_MS),
        ...(peer && { peer: () => typical(() => peer.run('true')) }),
      },
      { rounds, warmUps: 1 },
    )
    await Promise.all([cold.close(), ready.close(), peer?.close()])
    const over = samples.cold.map((cost, round) => cost - samples.plain[round])
    return [
      ratioFigure('warm : plain spawn, both after a pause', samples.ready, samples.rested, { goal: 1.5 }),
      ratioFigure('cold : plain spawn, both after a pause', samples.coldRested, samples.rested, { goal: 4 }),
      figure('cold, over a plain spawn', over, { unit: 'ms', goal: 10 }),
      ...(peer
        ? [
            ratioFigure('cold : sandbox-runtime', samples.cold, samples.peer, { goal: 0.3 }),
            ratioFigure('sandbox-runtime : plain spawn', samples.peer, samples.plain),
          ]
        : []),
      figure('cold', samples.cold, { unit: 'ms' }),
      figure('warm', samples.ready, { unit: 'ms' }),
      figure('plain spawn', samples.plain, { unit: 'ms' }),
      figure('plain spawn after a pause', samples.rested, { unit: 'ms' }),
    ]
  })
}

async function typical(run, pauseMs = 0) {
  const costs = []
  for (let call = 0; call < CALLS; call++) {
    if (pauseMs > 0) await pause(pauseMs)
    const start = performance.now()
    await run()
    costs.push(performance.now() - start)
  }
  return quantile(costs, 0.5)
}
