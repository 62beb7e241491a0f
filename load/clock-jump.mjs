import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub, defineTool } from '../packages/tool-hub/dist/index.js'
import { fakeClock } from '../packages/tool-hub/dist/testing.js'

const DAY_MS = 86_400_000
const NOTHING = { type: 'object', properties: {}, additionalProperties: false }

/** The clock of the machine jumps: limits neither open nor close for good. In this process, where time can be told to. */
export async function checkClockJump(checks) {
  const folder = await mkdtemp(join(tmpdir(), 'tool-hub-clock-'))
  const clock = fakeClock()
  let executed = 0
  const hub = createToolHub({
    clock,
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    approvals: { inbox: true, timeoutMs: 60_000 },
    policy: [{ ask: 'load.ask' }],
    tools: [
      defineTool({
        name: 'load.count',
        description: 'Count.',
        input: NOTHING,
        capabilities: [],
        execute: () => ++executed,
      }),
      defineTool({ name: 'load.ask', description: 'Ask.', input: NOTHING, capabilities: [], execute: () => 'yes' }),
    ],
  })
  try {
    await checkRate(checks, hub.as({ name: 'rated', rate: { perSecond: 1, burst: 5 } }), clock)
    await checkBudget(checks, hub.as({ name: 'budgeted', budget: { calls: 3 } }), clock)
    await checkKeys(checks, hub.as({ name: 'keyed' }), clock, () => executed)
    await checkAsks(checks, hub, clock)
  } finally {
    await hub.close({ abort: true })
    await rm(folder, { recursive: true, force: true })
  }
}

async function checkRate(checks, agent, clock) {
  const counts = []
  for (const jumpMs of [0, 365 * DAY_MS, -DAY_MS]) {
    await clock.advance(jumpMs)
    counts.push(await succeeded(agent, 20))
  }
  checks.that(
    'a clock that jumps fills a bucket once at most',
    counts.every((count) => count <= 5),
    counts,
  )
  await clock.advance(10_000)
  const after = await succeeded(agent, 20)
  checks.that('and one that was set back does not close it', after >= 1 && after <= 5, after)
}

async function checkBudget(checks, agent, clock) {
  const counts = []
  for (const jumpMs of [0, DAY_MS, -DAY_MS]) {
    await clock.advance(jumpMs)
    counts.push(await succeeded(agent, 10))
  }
  checks.that('a day has one budget, however often it comes', JSON.stringify(counts) === '[3,3,0]', counts)
}

async function checkKeys(checks, agent, clock, executed) {
  const call = () => agent.callDynamic('load.count', {}, { idempotencyKey: 'once' })
  await call()
  const before = executed()
  for (const jumpMs of [3_600_000, -DAY_MS, DAY_MS]) {
    await clock.advance(jumpMs)
    await call()
  }
  checks.that('a key stays used', executed() === before, `${executed() - before} times more`)
}

async function checkAsks(checks, hub, clock) {
  const call = hub.as({ name: 'asker' }).callDynamic('load.ask', {})
  while (hub.approvals.list().length === 0) await new Promise((resolve) => setImmediate(resolve))
  const [ask] = hub.approvals.list()
  await clock.advance(-DAY_MS)
  checks.that('what waits still waits when the clock is set back', hub.approvals.list().length === 1)
  await clock.advance(2 * DAY_MS)
  const { error } = await call
  checks.that('and is over when its time is', error?.code === 'APPROVAL_TIMEOUT', error?.code)
  const isTaken = await hub.approvals.answer(ask.id, { decision: 'allow', by: 'late' })
  checks.that('so that nobody can answer any more', isTaken !== true)
}

async function succeeded(agent, times) {
  let count = 0
  for (let time = 0; time < times; time++) if ((await agent.callDynamic('load.count', {})).ok) count++
  return count
}
