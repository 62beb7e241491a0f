import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgresStore } from '../dist/index.js'
import { Balancer } from './balancer.mjs'
import { ClusterAgent, ClusterApprover } from './cluster-agent.mjs'
import { measureCluster } from './cluster-figures.mjs'
import { Machine } from './cluster-machine.mjs'
import { makeTokens } from './make-tokens.mjs'
import { PrivatePostgres } from './private-postgres.mjs'
import { runCli } from './service-process.mjs'

const SERVICES = 3
/** One of them only takes part in the measurement. */
const WORKERS = 3
const BUDGET_AGENTS = 6
const BUDGET_CALLS = 200
/** The largest block of that budget that a process reserves: 5 percent. */
const MAX_BLOCK = BUDGET_CALLS * 0.05
const MAX_STUCK_MS = 15_000
/** Longer than a lease. */
const PAUSE_MS = 13_000
const AWAY_MS = 4_000
const MAX_STARTS = 30
/** Longer than a call may take, and than a lease. */
const MAX_END_MS = 60_000
const MAX_ORPHAN_MS = 120_000

/**
 * Three services and two workers on one PostgreSQL, with agents that come to any of them: processes are killed, stopped
 * for longer than their leases, and cut off from the database, and the database itself is stopped.
 */
export async function runCluster(checks, folder, options) {
  const postgres = await PrivatePostgres.create()
  const effects = join(folder, 'effects.log')
  await writeFile(effects, '')
  const machines = []
  try {
    for (const [command, count] of [
      ['serve', SERVICES],
      ['worker', WORKERS],
    ])
      for (let number = 1; number <= count; number++)
        machines.push(
          await Machine.create(folder, { name: `${command}-${number}`, command, database: postgres.port, effects }),
        )
    for (const machine of machines) await machine.start()
    await runOn(checks, { folder, postgres, machines, effects }, options)
  } finally {
    for (const machine of machines) {
      if (machine.state !== 'down') await machine.kill().catch(() => {})
      machine.close()
    }
    await postgres.remove()
  }
}

async function runOn(checks, { folder, postgres, machines, effects }, options) {
  const services = machines.filter(({ name }) => name.startsWith('serve'))
  const balancer = new Balancer(services)
  const names = Array.from({ length: options.clusterAgents }, (_, index) => `agent-${index}`)
  const owner = services[0]
  const client = balancer.clientOf(owner)
  const tokens = await makeTokens(client, owner.token, names)
  const [person] = await makeTokens(client, owner.token, ['ann'], ['approve', 'read'])
  const [frugal] = await makeTokens(client, owner.token, ['frugal'], ['call'], { budget: { calls: BUDGET_CALLS } })
  const workers = machines.filter(({ name }) => name.startsWith('worker'))
  await measureCluster(checks, { services, workers, tokens, person, balancer }, options)

  const agents = names.map(
    // Two of three name a run of their own, the others use the one that their process gives them.
    (name, index) =>
      new ClusterAgent(name, { token: tokens[index], run: index % 3 ? `of-${name}` : undefined, balancer }),
  )
  const spenders = Array.from(
    { length: BUDGET_AGENTS },
    (_, index) => new Spender(`spender-${index}`, frugal, balancer),
  )
  const approver = new ClusterApprover({ token: person, balancer })
  const [stop, stopApprover] = [new AbortController(), new AbortController()]
  const approving = approver.work(stopApprover.signal)
  const working = [...agents, ...spenders].map((agent) => agent.work(stop.signal))
  const faults = await breakThings({ machines: machines.slice(0, -1), postgres, seconds: options.clusterSeconds })
  stop.abort()
  checks.that(
    `every call has its end ${MAX_END_MS / 1_000} s after the last fault`,
    await Promise.race([Promise.all(working).then(() => true), wait(MAX_END_MS).then(() => false)]),
    agents.flatMap(({ open }) => open.slice(-1)),
  )
  for (const agent of agents) agent.giveUp()
  await Promise.all(working)
  stopApprover.abort()
  await approving
  balancer.close()
  console.log(`  ${describe(faults)}; ${describe(countAll(agents.map(({ retried }) => retried)))}`)

  await checkWork(checks, { agents, approver, effects })
  await checkOrphans(checks, postgres)
  checkBudget(checks, spenders)
  for (const machine of machines.slice(0, -1)) {
    const code = await machine.stop()
    const isRight = code === 143 || code === 0
    checks.that(`${machine.name} stops`, isRight, `exit code ${code} ${isRight ? '' : machine.complaints}`)
  }
  await checkRecords(checks, { folder, postgres, agents, service: services[0] })
}

/** Calls until its budget is used up. */
class Spender {
  #name
  #token
  #balancer
  done = 0
  #number = 0

  constructor(name, token, balancer) {
    this.#name = name
    this.#token = token
    this.#balancer = balancer
  }

  async work(signal) {
    while (!signal.aborted) {
      const body = { input: { text: `${this.#name} ${this.#number++}` }, run: this.#name }
      const answer = await this.#balancer
        .choose()
        ?.call(this.#token, 'load.echo', body, { timeoutMs: 8_000 })
        .catch(() => {})
      if (answer?.json?.ok) this.done++
      await wait(50)
    }
  }
}

/** Breaks one thing after the other, never all services at the same time; everything runs again when it resolves. */
async function breakThings({ machines, postgres, seconds }) {
  const until = performance.now() + seconds * 1_000
  const faults = new Map()
  const mending = new Set()
  let isPostgresDue = true
  while (performance.now() < until) {
    await wait(1_000 + Math.random() * 1_500)
    const fault = pickFault(machines)
    if (fault) {
      faults.set(fault.kind, (faults.get(fault.kind) ?? 0) + 1)
      const mended = fault.break().finally(() => mending.delete(mended))
      mending.add(mended)
    }
    if (isPostgresDue && performance.now() > until - seconds * 500) {
      isPostgresDue = false
      await postgres.stop()
      await wait(AWAY_MS)
      await postgres.start()
      faults.set('PostgreSQL stopped', 1)
    }
  }
  await Promise.all(mending)
  return faults
}

const FAULTS = {
  async killed(machine) {
    await machine.kill()
    await wait(Math.random() * 2_000)
    await startAgain(machine)
  },
  async stopped(machine) {
    machine.pause()
    await wait(PAUSE_MS)
    machine.resume()
  },
  async 'cut off'(machine) {
    machine.block()
    await wait(Math.random() * PAUSE_MS)
    machine.unblock()
  },
  async disconnected(machine) {
    machine.cut()
  },
}

/** As a supervisor does: a process ends if the database is away when it starts. */
async function startAgain(machine) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await machine.start()
    } catch (error) {
      if (attempt === MAX_STARTS) throw error
      await wait(AWAY_MS / 4)
    }
  }
}

function pickFault(machines) {
  const up = machines.filter(({ state }) => state === 'up')
  const services = up.filter(({ name }) => name.startsWith('serve'))
  const machine = up[Math.floor(Math.random() * up.length)]
  // One service is left alone, so that agents come through.
  if (!machine || (services.length <= 1 && services.includes(machine))) return undefined
  const kinds = Object.keys(FAULTS)
  const kind = kinds[Math.floor(Math.random() * kinds.length)]
  return { kind, break: () => FAULTS[kind](machine) }
}

async function checkWork(checks, { agents, approver, effects: path }) {
  const problems = [...agents.flatMap(({ problems }) => problems), ...approver.problems]
  checks.that(
    'every answer was typed, and every failure worth another try or known',
    problems.length === 0,
    problems.slice(0, 5),
  )
  const effects = new Map()
  for (const key of (await readFile(path, 'utf8')).split('\n').filter(Boolean))
    effects.set(key, (effects.get(key) ?? 0) + 1)
  const twice = [...effects].filter(([, times]) => times > 1)
  checks.that(`none of ${effects.size} side effects happened twice`, twice.length === 0, twice.slice(0, 5))
  const calls = agents.flatMap(({ acknowledged }) => acknowledged)
  const lost = calls.filter(({ key, tool, ok }) => ok && tool !== 'load.echo' && !effects.has(key))
  checks.that(
    `every acknowledged side effect has happened (${calls.length} calls)`,
    lost.length === 0,
    lost.slice(0, 5),
  )
  const unknown = calls.filter(({ ok }) => !ok).length
  console.log(`  ${unknown} calls were lost in the middle, and said so`)
  const sent = calls.filter(({ tool, key }) => tool === 'load.send' && approver.answeredAt.has(key))
  const waits = sent
    .map((call) => ({ ...call, ms: call.at - approver.answeredAt.get(call.key) }))
    .sort((a, b) => b.ms - a.ms)
  const [longest] = waits
  checks.that(
    `no approval of ${sent.length} was stuck for longer than ${MAX_STUCK_MS / 1_000} s after its answer`,
    longest?.ms <= MAX_STUCK_MS,
    longest?.ms <= MAX_STUCK_MS
      ? `${longest.ms.toFixed(0)} ms at most`
      : JSON.stringify({ ...longest, answered: approver.answeredAt.get(longest?.key) }),
  )
}

function checkBudget(checks, spenders) {
  const done = spenders.reduce((sum, spender) => sum + spender.done, 0)
  const most = BUDGET_CALLS + MAX_BLOCK * SERVICES
  checks.that(
    `a budget of ${BUDGET_CALLS} calls is not exceeded by more than one block of each process`,
    done > 0 && done <= most,
    `${done} calls`,
  )
}

/** The services that are left end the runs of processes that were killed. */
async function checkOrphans(checks, postgres) {
  const store = openPostgresStore(urlOf(postgres))
  const findOrphans = async () => {
    const alive = new Set((await store.processes.list()).filter(({ isAlive }) => isAlive).map(({ id }) => id))
    return (await store.runStates.leases()).filter(({ owner }) => !alive.has(owner))
  }
  const until = performance.now() + MAX_ORPHAN_MS
  let orphans = await findOrphans()
  for (; orphans.length > 0 && performance.now() < until; orphans = await findOrphans()) await wait(500)
  await store.close()
  checks.that('every run of a process that was lost is ended by another one', orphans.length === 0, orphans.slice(0, 3))
}

function urlOf({ port }) {
  return `postgres://hub@127.0.0.1:${port}/postgres`
}

/** What all machines have shared: each acknowledged call has one end, and the chains are whole. */
async function checkRecords(checks, { folder, postgres, agents, service }) {
  const store = openPostgresStore(urlOf(postgres))
  const [started, ended] = [new Map(), new Map()]
  for (const { run } of await store.segments.heads())
    for await (const event of sharedEvents(store, run)) {
      if (event.type === 'call-started') count(started, event.callId)
      if (event.type === 'call-ended' || event.type === 'call-interrupted') count(ended, event.callId)
    }
  await store.close()
  // What changes nothing, and the answer that was known already, is on the disk of the machine until it is shared.
  const acknowledged = agents
    .flatMap((agent) => agent.acknowledged)
    .filter(({ ok, tool, isRepeated }) => ok && tool !== 'load.echo' && !isRepeated)
  const missing = acknowledged.filter(({ callId }) => !ended.has(callId))
  checks.that(
    `each of ${acknowledged.length} acknowledged calls with side effects is in the shared records`,
    missing.length === 0,
    `${missing.length} are not ${JSON.stringify(missing.slice(0, 3))}`,
  )
  const open = [...started.keys()].filter((callId) => !ended.has(callId))
  const twice = [...ended].filter(([, times]) => times > 1)
  checks.that(`each of ${started.size} calls has an end`, open.length === 0, open.slice(0, 3))
  checks.that('and only one', twice.length === 0, twice.slice(0, 3))
  const { code, stdout, stderr } = await runCli(service.folder, ['audit', 'verify', '--shared', '--json'])
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

async function* sharedEvents(store, run) {
  for (let from = 1; ; ) {
    const segments = await store.segments.read(run, { from, limit: 100 })
    if (segments.length === 0) return
    for (const { lines } of segments) for (const line of lines.split('\n')) if (line !== '') yield JSON.parse(line)
    from = segments.at(-1).last + 1
  }
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1)
}

function countAll(maps) {
  const all = new Map()
  for (const map of maps) for (const [key, number] of map) all.set(key, (all.get(key) ?? 0) + number)
  return all
}

function describe(counts) {
  return [...counts].map(([name, number]) => `${number} ${name}`).join(', ')
}
