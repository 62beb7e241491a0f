import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Awaitable,
  type BudgetLimits,
  CALLER_ERRORS,
  type Clock,
  type IndexedCall,
  isDenial,
  isFailure,
  messageOf,
  type Store,
  systemClock,
} from '@tool-hub/core'
import { errnoOf, escapeLine } from '@tool-hub/core/lib'
import type { ConfigState, Health } from '@tool-hub/core/protocol'
import type { McpServerStatus } from '@tool-hub/mcp'
import { type Hub, sizeOfFolder } from '@tool-hub/runtime/hub'
import { budgetUse } from './list-principals.ts'

/** Options of `describeHealth`. */
export interface HealthOptions {
  readonly hub: Pick<Hub, 'describeSandbox' | 'metrics'>
  readonly store: Pick<Store, 'calls' | 'approvals' | 'budgets' | 'check'>
  readonly startedAt: number
  readonly clock?: Clock
  /** State of the MCP servers of the hub. */
  readonly servers?: () => readonly McpServerStatus[]
  /** Used and free disk space. */
  readonly disk?: () => Promise<Health['disk']>
  /** State of the config file, if there is one. */
  readonly config?: () => ConfigState | undefined
  /** Principals with a budget. */
  readonly principals?: () => Awaitable<readonly { readonly name: string; readonly budget?: BudgetLimits }[]>
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Calls of the last hour that are counted by tool. */
const MAX_CALLS = 5_000
const MAX_TOOLS = 100
const MAX_PRINCIPALS = 200
const MAX_WAITING = 1_000

/** Describes the health of the service. A part that cannot be checked says so and does not affect the others. */
export async function describeHealth(options: HealthOptions): Promise<Health> {
  const { hub, store, startedAt, clock = systemClock, servers = () => [], principals = () => [] } = options
  const config = options.config?.()
  const now = clock.now()
  const [inFlight, waiting, slices, tools, sandbox, budgets, storeState, disk] = await Promise.all([
    countInFlight(hub),
    or(0, async () => (await store.approvals.briefs({ state: 'waiting', limit: MAX_WAITING })).length),
    or([], () => slicesOf(store, now)),
    or([], () => toolsOf(store, now)),
    sandboxOf(hub),
    or([], async () => budgetsOf(store, await principals(), now)),
    stateOf(store),
    or(undefined, async () => options.disk?.()),
  ])
  // Reads /proc, which may not be accessible.
  const memoryBytes = await or(0, async () => process.memoryUsage.rss())
  const upstream = servers().map(serverOf)
  return {
    startedAt,
    uptimeMs: Math.max(0, now - startedAt),
    memoryBytes,
    inFlight,
    waiting,
    slices,
    tools,
    sandbox,
    servers: upstream,
    budgets,
    store: storeState,
    disk,
    config,
  }
}

/** A store that fails is reported once, in `store`. */
async function or<T>(otherwise: T, look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch {
    // `store.check` reports the problem.
    return otherwise
  }
}

async function countInFlight(hub: HealthOptions['hub']): Promise<number> {
  const line = /^tool_hub_calls_in_flight (\d+)$/m.exec(await hub.metrics())
  return Number(line?.[1] ?? 0)
}

/** Includes minutes without calls. */
async function slicesOf(store: HealthOptions['store'], now: number): Promise<Health['slices']> {
  const since = Math.floor((now - HOUR_MS) / MINUTE_MS) * MINUTE_MS + MINUTE_MS
  const found = await store.calls.rates({ since, sliceMs: MINUTE_MS })
  const byTime = new Map(found.map((slice) => [slice.at, slice]))
  return Array.from({ length: HOUR_MS / MINUTE_MS }, (_, index) => {
    const at = since + index * MINUTE_MS
    const { calls = 0, failures = 0, denials = 0, callerErrors = 0, meanMs = 0, maxMs = 0 } = byTime.get(at) ?? {}
    return { at, calls, failures, denials, callerErrors, meanMs, maxMs }
  })
}

async function toolsOf(store: HealthOptions['store'], now: number): Promise<Health['tools']> {
  const latest = await store.calls.calls({ limit: MAX_CALLS })
  const tallies = new Map<string, Tally>()
  for (const call of latest) if (call.startedAt > now - HOUR_MS) tally(tallies, call)
  return [...tallies]
    .map(([tool, { ended, totalMs, ...counts }]) => {
      return { tool: escapeLine(tool), ...counts, meanMs: ended === 0 ? 0 : totalMs / ended }
    })
    .sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1))
    .slice(0, MAX_TOOLS)
}

interface Tally {
  calls: number
  failures: number
  denials: number
  callerErrors: number
  ended: number
  totalMs: number
}

function tally(tallies: Map<string, Tally>, { tool, status, error = '', durationMs }: IndexedCall): void {
  const known = tallies.get(tool) ?? { calls: 0, failures: 0, denials: 0, callerErrors: 0, ended: 0, totalMs: 0 }
  tallies.set(tool, known)
  known.calls++
  if (isDenial(status)) known.denials++
  else if (isFailure(status) && CALLER_ERRORS.has(error)) known.callerErrors++
  else if (isFailure(status)) known.failures++
  if (durationMs === undefined) return
  known.ended++
  known.totalMs += durationMs
}

async function sandboxOf(hub: HealthOptions['hub']): Promise<Health['sandbox']> {
  try {
    const { level, weaknesses } = await hub.describeSandbox()
    return { level, ...(weaknesses.length > 0 && { problem: weaknesses.join(' ') }) }
  } catch (error) {
    return { level: 'unknown', problem: escapeLine(messageOf(error)) }
  }
}

function serverOf({ name, state, tools, changed, problem }: McpServerStatus): Health['servers'][number] {
  const why = problem && { problem: escapeLine(problem.message) }
  return { name: escapeLine(name), state, tools: tools.length, ...(changed && { changed: changed.length }), ...why }
}

async function budgetsOf(
  store: HealthOptions['store'],
  principals: readonly { readonly name: string; readonly budget?: BudgetLimits }[],
  now: number,
): Promise<Health['budgets']> {
  const entries: Health['budgets'] = []
  for (const { name, budget } of principals.filter((each) => each.budget).slice(0, MAX_PRINCIPALS)) {
    const use = await budgetUse(store, { name, budget }, now)
    entries.push(...use.map((each) => ({ account: escapeLine(name), ...each })))
  }
  return entries
}

async function stateOf(store: HealthOptions['store']): Promise<Health['store']> {
  try {
    await store.check()
    return { ok: true }
  } catch (error) {
    return { ok: false, problem: escapeLine(messageOf(error)) }
  }
}

type Disk = NonNullable<Health['disk']>

const STORE_FILES = ['store.db', 'store.db-wal']
/** The records are many files, so they are measured rarely and in the background. */
const MEASURE_EVERY_MS = 300_000

/** Measures the size of store and records, and the free space on their disks. */
export class DiskUse {
  readonly #folders: { readonly data: string; readonly runs: string }
  readonly #clock: Clock
  readonly #closing = new AbortController()
  #recordsBytes: number | undefined
  #measuredAt: number | undefined
  #measuring: Promise<void> | undefined

  constructor({
    folders,
    clock,
  }: { readonly folders: { readonly data: string; readonly runs: string }; readonly clock: Clock }) {
    this.#folders = folders
    this.#clock = clock
  }

  /** Describes disk use now; the size of the records is absent until they were measured. */
  async describe(): Promise<Disk> {
    this.#measureSoon()
    const [storeBytes, disks] = await Promise.all([sizeOfStore(this.#folders.data), disksOf(this.#folders)])
    return { storeBytes, ...(this.#recordsBytes !== undefined && { recordsBytes: this.#recordsBytes }), disks }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#measuring
  }

  #measureSoon(): void {
    const age = this.#clock.now() - (this.#measuredAt ?? Number.NEGATIVE_INFINITY)
    if (this.#measuring || age < MEASURE_EVERY_MS || this.#closing.signal.aborted) return
    this.#measuring = this.#measure().finally(() => {
      this.#measuring = undefined
    })
  }

  async #measure(): Promise<void> {
    try {
      this.#recordsBytes = await sizeOfFolder(this.#folders.runs, this.#closing.signal)
    } catch {
      // Closed in the meantime, or a failing disk, which is reported where records are written.
    }
    this.#measuredAt = this.#clock.now()
  }
}

async function sizeOfStore(folder: string): Promise<number> {
  const sizes = STORE_FILES.map(async (name) => (await stat(join(folder, name))).size)
  return (await Promise.allSettled(sizes)).reduce(
    (sum, each) => sum + (each.status === 'fulfilled' ? each.value : 0),
    0,
  )
}

async function disksOf(folders: { readonly data: string; readonly runs: string }): Promise<Disk['disks']> {
  const disks: Disk['disks'] = []
  for (const folder of ['data', 'runs'] as const) {
    try {
      const { bavail, blocks, bsize } = await statfs(folders[folder])
      disks.push({ folder, freeBytes: bavail * bsize, sizeBytes: blocks * bsize })
    } catch (error) {
      // A folder that does not exist yet has no disk.
      if (errnoOf(error) === undefined) throw error
    }
  }
  return disks
}
