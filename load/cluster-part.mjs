import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgresStore } from '../packages/tool-hub/dist/index.js'
import { startPostgres } from '../test/support/postgres.ts'
import { Balancer } from './balancer.mjs'
import { ClusterAgent, ClusterApprover, Spender } from './cluster-agent.mjs'
import { checkOrphans, checkSharedRecords, checkWork } from './cluster-checks.mjs'
import { breakThings } from './cluster-faults.mjs'
import { measureCluster } from './cluster-figures.mjs'
import { Machine } from './cluster-machine.mjs'
import { makeTokens } from './make-tokens.mjs'

const SERVICES = 3
/** One of them only takes part in the measurement. */
const WORKERS = 3
const POSTGRES = { tcp: true, fsync: true, settings: ['max_connections=200', 'shared_buffers=64MB'] }
const BUDGET_AGENTS = 6
const BUDGET_CALLS = 200
/** The largest block of that budget that a process reserves: 5 percent. */
const MAX_BLOCK = BUDGET_CALLS * 0.05
/** Longer than a call may take, and than a lease. */
const MAX_END_MS = 60_000

/**
 * Three services and two workers on one PostgreSQL, with agents that come to any of them: processes are killed, stopped
 * for longer than their leases, and cut off from the database, and the database itself is stopped.
 */
export async function runCluster(checks, folder, options) {
  const postgres = await startPostgres(POSTGRES)
  const effects = join(folder, 'effects.log')
  await writeFile(effects, '')
  const machines = []
  const addMachines = async (command, count) => {
    for (let number = 1; number <= count; number++)
      machines.push(await Machine.create(folder, { command, number, database: postgres.url, effects }))
  }
  try {
    await addMachines('serve', SERVICES)
    await addMachines('worker', WORKERS)
    for (const machine of machines) await machine.start()
    await runOn(checks, { postgres, machines, effects }, options)
  } finally {
    for (const machine of machines) {
      if (machine.state !== 'down') await machine.kill().catch(() => {})
      machine.close()
    }
    await postgres.close()
  }
}

async function runOn(checks, { postgres, machines, effects }, options) {
  const services = machines.filter(({ command }) => command === 'serve')
  const workers = machines.filter(({ command }) => command === 'worker')
  const balancer = new Balancer(services)
  const people = await makePeople(services[0], balancer, options)
  await measureCluster(checks, { services, workers, balancer, ...people }, options)

  const machinesInUse = machines.slice(0, -1)
  const breaking = () => breakThings({ machines: machinesInUse, postgres, seconds: options.clusterSeconds })
  const { agents, spenders, approver, outages } = await workWhile(breaking, checks, { ...people, balancer })

  const store = openPostgresStore(postgres.url)
  try {
    await checkWork(checks, { agents, approver, effects, outages })
    await checkOrphans(checks, store, machinesInUse)
    checkBudget(checks, spenders)
    for (const machine of machinesInUse) await checkStop(checks, machine)
    await checkSharedRecords(checks, store, { agents, folder: services[0].folder })
  } finally {
    await store.close()
  }
}

/** The names and tokens of the agents, and the tokens of a person who approves and of one with a small budget. */
async function makePeople(owner, balancer, { clusterAgents }) {
  const names = Array.from({ length: clusterAgents }, (_, index) => `agent-${index}`)
  const make = (...words) => makeTokens(balancer.clientOf(owner), owner.token, ...words)
  const tokens = await make(names)
  const [person] = await make(['ann'], ['approve', 'read'])
  const [frugal] = await make(['frugal'], ['call'], { budget: { calls: BUDGET_CALLS } })
  return { names, tokens, person, frugal }
}

/** Lets everybody work until things were broken and mended, and every call has its end. */
async function workWhile(breaking, checks, { names, tokens, person, frugal, balancer }) {
  const agents = names.map(
    // Two of three name a run of their own, the others use the one that their process gives them.
    (name, index) =>
      new ClusterAgent(name, { token: tokens[index], run: index % 3 ? `of-${name}` : undefined, balancer }),
  )
  const spenders = Array.from(
    { length: BUDGET_AGENTS },
    (_, index) => new Spender(`spender-${index}`, { token: frugal, balancer }),
  )
  const approver = new ClusterApprover({ token: person, balancer })
  const [stop, stopApprover] = [new AbortController(), new AbortController()]
  const approving = approver.work(stopApprover.signal)
  const working = Promise.all([...agents, ...spenders].map((agent) => agent.work(stop.signal)))
  const { faults, outages } = await breaking()
  stop.abort()
  checks.that(
    `every call has its end ${MAX_END_MS / 1_000} s after the last fault`,
    await Promise.race([working.then(() => true), wait(MAX_END_MS).then(() => false)]),
    agents.flatMap(({ open }) => open.slice(-1)),
  )
  for (const agent of agents) agent.giveUp()
  await working
  stopApprover.abort()
  await approving
  balancer.close()
  const retried = new Map()
  for (const agent of agents)
    for (const [code, times] of agent.retried) retried.set(code, (retried.get(code) ?? 0) + times)
  console.log(`  ${describe(faults)}; ${describe(retried)}`)
  return { agents, spenders, approver, outages }
}

function describe(counts) {
  return [...counts].map(([name, number]) => `${number} ${name}`).join(', ')
}

function checkBudget(checks, spenders) {
  const done = spenders.reduce((sum, spender) => sum + spender.done, 0)
  checks.that(
    `a budget of ${BUDGET_CALLS} calls is not exceeded by more than one block of each process`,
    done > 0 && done <= BUDGET_CALLS + MAX_BLOCK * SERVICES,
    `${done} calls`,
  )
}

async function checkStop(checks, machine) {
  const code = await machine.stop()
  const isRight = code === 143 || code === 0
  checks.that(`${machine.name} stops`, isRight, `exit code ${code} ${isRight ? '' : machine.complaints}`)
}
