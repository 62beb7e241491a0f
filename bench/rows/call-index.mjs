import { openStore } from '../../packages/tool-hub/dist/index.js'
import { figure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 100_000
const CALLS_A_BATCH = 100
const CALLS_A_RUN = 50
const TOOLS = ['core/fs.readText', 'core/exec.run', 'core/http.fetchText']
const FIRST_AT = Date.UTC(2026, 0, 1)

/** The index of 100,000 calls: a call that is put, and searches that would have to read all of them. */
export default async function callIndex({ rounds }) {
  return withTempFolder(async (folder) => {
    const store = openStore(folder)
    let count = 0
    const put = async () => {
      const calls = Array.from({ length: CALLS_A_BATCH }, () => callOf(count++))
      await store.calls.put({ calls, runs: [] })
    }
    while (count < CALLS) await put()
    const find = (filter, expected) => () =>
      millisecondsOf(() => {
        const { length } = store.calls.calls({ limit: 50, ...filter })
        if (length < expected.least || length > expected.most) throw new Error(`found ${length} calls`)
      })
    const none = { least: 0, most: 0 }
    const samples = await measureInRounds(
      {
        put: async () => ((await millisecondsOf(put)) * 1_000) / CALLS_A_BATCH,
        absent: find({ text: 'nowhere-to-be-found' }, none),
        nearly: find({ text: 'src/file-99731' }, none),
        rare: find({ text: 'file-9972.ts' }, { least: 10, most: 20 }),
        common: find({ text: 'readtext' }, { least: 50, most: 50 }),
        status: find({ status: 'interrupted' }, none),
      },
      { rounds },
    )
    await store.close()
    // The goals are those for 1,000,000 calls, 50 ms, divided by ten.
    return [
      figure('text that no call has', samples.absent, { unit: 'ms', goal: 5 }),
      figure('text whose parts many calls have', samples.nearly, { unit: 'ms', goal: 5 }),
      figure('text of ten calls', samples.rare, { unit: 'ms', goal: 5 }),
      figure('text of many calls', samples.common, { unit: 'ms', goal: 5 }),
      figure('a status that no call has', samples.status, { unit: 'ms', goal: 5 }),
      figure('put, 100 in a batch', samples.put, { unit: 'us' }),
    ]
  })
}

function callOf(n) {
  const path = `/srv/projects/p${n % 50}/src/file-${n % 9_973}.ts`
  return {
    callId: `call-${n}`,
    run: `run-${Math.floor(n / CALLS_A_RUN)}`,
    seq: n % CALLS_A_RUN,
    tool: TOOLS[n % TOOLS.length],
    caller: `session:${n % 977}`,
    status: n % 20 === 0 ? 'error' : 'ok',
    startedAt: FIRST_AT + n * 10,
    durationMs: 1.5,
    effect: 'allow',
    rule: 'allow read:fs **',
    purpose: `review pull request ${n % 13}`,
    summary: `Read ${n % 500} lines.`,
    targets: [`read:fs ${path}`],
    request: `readText ${path}`,
  }
}
