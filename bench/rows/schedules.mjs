import { z } from '../../node_modules/zod/index.js'
import { createToolHub, defineTool, openStore } from '../../packages/tool-hub/dist/index.js'
import { figure } from '../lib/figure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const SCHEDULES = 10_000
const WINDOW_MS = 10_000
const SETTLE_MS = 3_000

const nothing = defineTool({
  name: 'bench/nothing',
  description: 'Does nothing, which takes no time.',
  input: z.strictObject({}),
  execute: () => ({}),
})

/** 10,000 schedules over an hour, so that some three are due each second: how late they run, and what it costs to be there. */
export default async function schedules({ rounds }) {
  return withTempFolder(async (folder) => {
    const store = openStore(`${folder}/data`)
    const hub = createToolHub({ tools: [nothing], runs: `${folder}/runs`, data: `${folder}/data`, store })
    const late = []
    await hub.schedules.onRun(({ status, startedAt, dueAt }) => {
      if (status === 'running') late.push(startedAt - dueAt)
    })
    await hub.schedules.start({ entries: Object.fromEntries(Array.from({ length: SCHEDULES }, entryOf)) })
    await sleep(SETTLE_MS)
    const samples = { late: [], cpu: [], runs: [] }
    for (let round = 0; round < rounds; round++) {
      late.length = 0
      const [began, before] = [performance.now(), process.cpuUsage()]
      await sleep(WINDOW_MS)
      const { user, system } = process.cpuUsage(before)
      samples.cpu.push((user + system) / 10 / (performance.now() - began))
      samples.late.push(Math.max(...late))
      samples.runs.push(late.length / (WINDOW_MS / 1_000))
    }
    await hub.close({ abort: true })
    await store.close()
    return [
      figure('latest run of 10 s after its time', samples.late, { unit: 'ms', goal: 1_000 }),
      figure('processor time, of one core', samples.cpu, { unit: '%', goal: 5 }),
      figure('runs a second', samples.runs, { unit: '' }),
    ]
  })
}

/** Each second of the hour has its own. */
function entryOf(_, n) {
  const cron = `${n % 60} ${Math.floor(n / 60) % 60} * * * *`
  return [`job-${n}`, { when: { cron }, timeZone: 'Europe/Berlin', missed: 'skip', calls: [{ tool: 'bench/nothing' }] }]
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
