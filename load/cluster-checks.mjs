import { setTimeout as wait } from 'node:timers/promises'
import { checkEffects } from './effects.mjs'
import { readSharedRecords } from './read-records.mjs'
import { runCli } from './service-process.mjs'

const MAX_STUCK_MS = 15_000
const MAX_ORPHAN_MS = 120_000

/** What was acknowledged to agents has happened, and nothing happened twice. */
export async function checkWork(checks, { agents, approver, effects: path, outages }) {
  const problems = [...agents.flatMap(({ problems }) => problems), ...approver.problems]
  checks.none('every answer was typed, and every failure worth another try or known', problems)
  const effects = await checkEffects(checks, path)
  const calls = agents.flatMap(({ acknowledged }) => acknowledged)
  const lost = calls.filter(({ key, tool, ok }) => ok && tool !== 'load.echo' && !effects.has(key))
  checks.none(`every acknowledged side effect has happened (${calls.length} calls)`, lost)
  const unknown = calls.filter(({ ok }) => !ok).length
  console.log(`  ${unknown} calls were lost in the middle, and said so`)
  checkApprovals(checks, { calls, approver, outages })
}

/** Each outage may delay a call until others take over, and several may hit one call after the other. */
function checkApprovals(checks, { calls, approver, outages }) {
  const sent = calls
    .filter(({ tool, key }) => tool === 'load.send' && approver.answeredAt.has(key))
    .map((call) => {
      const answered = approver.answeredAt.get(call.key)
      const hits = outages.filter(({ since, until }) => since < call.at && until > answered).length
      return { ...call, answered, hits, ms: call.at - answered }
    })
    .sort((a, b) => b.ms - a.ms)
  const stuck = sent.filter(({ ms, hits }) => ms > MAX_STUCK_MS * Math.max(1, hits))
  checks.that(
    `no approval of ${sent.length} was stuck for longer than ${MAX_STUCK_MS / 1_000} s after its answer, for each outage`,
    sent.length > 0 && stuck.length === 0,
    stuck.length > 0 ? JSON.stringify(stuck[0]) : `${sent[0]?.ms.toFixed(0)} ms at most, over ${sent[0]?.hits} outages`,
  )
}

/**
 * The services that are left end the runs of processes that were killed. The store takes a killed process for alive until its
 * heartbeats are missed, so only those of the machines count.
 */
export async function checkOrphans(checks, store, machines) {
  const pids = new Set(machines.map(({ pid }) => pid))
  const findOrphans = async () => {
    const alive = new Set((await store.processes.list()).filter(({ pid }) => pids.has(pid)).map(({ id }) => id))
    return (await store.runStates.leases()).filter(({ owner }) => !alive.has(owner))
  }
  const until = performance.now() + MAX_ORPHAN_MS
  let orphans = await findOrphans()
  for (; orphans.length > 0 && performance.now() < until; orphans = await findOrphans()) await wait(500)
  checks.none('every run of a process that was lost is ended by another one', orphans)
}

/** What all machines have shared: each acknowledged call has one end, and the chains are whole. */
export async function checkSharedRecords(checks, store, { agents, folder }) {
  const calls = await readSharedRecords(store)
  // What changes nothing, and the answer that was known already, is on the disk of the machine until it is shared.
  const acknowledged = agents
    .flatMap((agent) => agent.acknowledged)
    .filter(({ ok, tool, isRepeated }) => ok && tool !== 'load.echo' && !isRepeated)
  const missing = acknowledged.filter(({ callId }) => !calls.ended.has(callId))
  checks.none(`each of ${acknowledged.length} acknowledged calls with side effects is in the shared records`, missing)
  calls.checkEnds(checks)
  const { code, stdout, stderr } = await runCli(folder, ['audit', 'verify', '--shared', '--json'])
  checks.that(
    'audit verify is clean over the shared records',
    code === 0,
    code === 0 ? '' : `${code} ${linesWithProblems(stdout)} ${stderr} ${folder}`,
  )
}

function linesWithProblems(lines) {
  return lines
    .split('\n')
    .filter((line) => line.includes('"ok":false'))
    .slice(0, 5)
    .join('\n')
}
