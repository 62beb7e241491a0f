import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, microsecondsAtOnce, microsecondsEach } from '../lib/measure.mjs'
import { dataOf, governedHub, remember } from '../lib/ours.mjs'
import { ownerRules } from '../lib/rules.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 64
const WAVES = 4
/** As long as the record of a call is. */
const LINE = `${'x'.repeat(399)}\n`

/**
 * A call with an effect: its intent is on the disk before the effect, its end before the return. One by one, and 64 at
 * once, which share their fsyncs. The floor is what this disk takes for one line: write and fdatasync, nothing else.
 */
export default async function durableEffect({ rounds }) {
  return withTempFolder(async (folder) => {
    const policy = [...ownerRules(49), { allow: 'memory' }]
    const hub = governedHub({ runs: folder, tools: [remember], policy })
    const file = await open(join(folder, 'floor.jsonl'), 'a')
    let value = 0
    const call = () => dataOf(hub.call(remember, { value: ++value }))
    const samples = await measureInRounds(
      {
        floor: () => microsecondsEach(CALLS, () => writeLine(file)),
        oneByOne: () => microsecondsEach(CALLS, call),
        atOnce: async () => (await microsecondsEach(WAVES, () => microsecondsAtOnce(CALLS, call))) / CALLS,
      },
      { rounds, warmUps: 2 },
    )
    await file.close()
    await hub.close()
    const { floor, oneByOne, atOnce } = samples
    return [
      ratioFigure('64 concurrent : one by one, per call', atOnce, oneByOne, { goal: 0.25 }),
      ratioFigure(
        'one by one : two floors',
        oneByOne,
        floor.map((cost) => 2 * cost),
      ),
      figure('one by one', oneByOne, { unit: 'us' }),
      figure('64 concurrent, per call', atOnce, { unit: 'us' }),
      figure('floor: write and fdatasync', floor, { unit: 'us' }),
    ]
  })
}

async function writeLine(file) {
  await file.write(LINE)
  await file.datasync()
}
