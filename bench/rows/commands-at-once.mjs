import { commandHub, runTrue, spawnTrue } from '../lib/commands.mjs'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const AT_ONCE = 8
const COMMANDS = 80

/** Eight concurrent commands, one after another in each of eight lanes: 0.4 times the rate of plain spawns is 2.5 times the time. */
export default async function commandsAtOnce({ rounds }) {
  return withTempFolder(async (folder) => {
    const hub = await commandHub(folder)
    const samples = await measureInRounds(
      { ours: () => inLanes(() => runTrue(hub)), plain: () => inLanes(spawnTrue) },
      { rounds, warmUps: 1 },
    )
    await hub.close()
    return [
      ratioFigure('governed : plain spawn, time for 80', samples.ours, samples.plain, { goal: 2 }),
      figure('governed', samples.ours.map(perSecond), { unit: '/s' }),
      figure('plain spawn', samples.plain.map(perSecond), { unit: '/s' }),
    ]
  })
}

function inLanes(run) {
  return millisecondsOf(() =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let index = 0; index < COMMANDS / AT_ONCE; index++) await run()
      }),
    ),
  )
}

function perSecond(milliseconds) {
  return (COMMANDS * 1_000) / milliseconds
}
