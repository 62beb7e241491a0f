import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Awaitable,
  type BudgetLimits,
  type Clock,
  type IndexedCall,
  isDenial,
  isFailure,
  messageOf,
  type Store,
  systemClock,
} from '../../core/index.ts'
import { type Hub, sizeOfFolder } from '../../hub/index.ts'
import { errnoOf, escapeLine } from '../../lib/index.ts'
import { principalAccount } from '../../limits/index.ts'
import type { ConfigState, Health } from '../../protocol/index.ts'
import type { McpServerStatus } from '../../sources/mcp/index.ts'

/** Whose health it is. */
export interface HealthOptions {
  readonly hub: Pick<Hub, 'describeSandbox' | 'metrics'>
  readonly store: Pick<Store, 'calls' | 'approvals' | 'budgets' | 'check'>
  readonly startedAt: number
  readonly clock?: Clock
  /** How the MCP servers are that the hub has its tools from. */
  readonly servers?: () => readonly McpServerStatus[]
  /** How much room is taken, and left. */
  readonly disk?: () => Promise<Health['disk']>
  /** How the config file is, where there is one. */
  readonly config?: () => ConfigState | undefined
  /** Those who may use only so much a day. */
  readonly principals?: () => Awaitable<readonly { readonly name: string; readonly budget?: BudgetLimits }[]>
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Tools are counted over so many of the latest calls of the hour. */
const MAX_CALLS = 5_000
const MAX_TOOLS = 100
const MAX_PRINCIPALS = 200
const MAX_WAITING = 1_000

/** Says how the service does; a part that cannot be looked at says so, and the others are told all the same. */
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
  // Reads /proc, which may be hidden.
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
    ...(disk && { disk }),
    ...(config && { config }),
  }
}

/** A store that fails is told once, by `store`. */
async function or<T>(otherwise: T, look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch {
    // `store.check` says what is wrong.
    return otherwise
  }
}

async function countInFlight(hub: HealthOptions['hub']): Promise<number> {
  const line = /^tool_hub_calls_in_flight (\d+)$/m.exec(await hub.metrics())
  return Number(line?.[1] ?? 0)
}

/** The minutes in which nothing happened are part of the picture. */
async function slicesOf(store: HealthOptions['store'], now: number): Promise<Health['slices']> {
  const since = Math.floor((now - HOUR_MS) / MINUTE_MS) * MINUTE_MS + MINUTE_MS
  const found = await store.calls.rates({ since, sliceMs: MINUTE_MS })
  const byTime = new Map(found.map((slice) => [slice.at, slice]))
  return Array.from({ length: HOUR_MS / MINUTE_MS }, (_, index) => {
    const at = since + index * MINUTE_MS
    const { calls = 0, failures = 0, denials = 0, meanMs = 0, maxMs = 0 } = byTime.get(at) ?? {}
    return { at, calls, failures, denials, meanMs, maxMs }
  })
}

async function toolsOf(store: HealthOptions['store'], now: number): Promise<Health['tools']> {
  const latest = await store.calls.calls({ limit: MAX_CALLS })
  const tallies = new Map<string, Tally>()
  for (const call of latest) if (call.startedAt > now - HOUR_MS) tally(tallies, call)
  return [...tallies]
    .map(([tool, { calls, failures, denials, ended, totalMs }]) => {
      return { tool: escapeLine(tool), calls, failures, denials, meanMs: ended === 0 ? 0 : totalMs / ended }
    })
    .sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1))
    .slice(0, MAX_TOOLS)
}

interface Tally {
  calls: number
  failures: number
  denials: number
  ended: number
  totalMs: number
}

function tally(tallies: Map<string, Tally>, { tool, status, durationMs }: IndexedCall): void {
  const known = tallies.get(tool) ?? { calls: 0, failures: 0, denials: 0, ended: 0, totalMs: 0 }
  tallies.set(tool, known)
  known.calls++
  if (isDenial(status)) known.denials++
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
    const used = await store.budgets.used(principalAccount(name, now))
    for (const unit of ['calls', 'wallMs', 'bytes', 'cost'] as const) {
      const limit = budget![unit]
      if (limit !== undefined) entries.push({ account: escapeLine(name), unit, used: used[unit], limit })
    }
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
/** The records are many files: they are measured in the background, and seldom. */
const MEASURE_EVERY_MS = 300_000

/** How much room store and records take, and how much is left on their disks. */
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

  /** What is known now; the size of the records is left out until they were measured. */
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
      // Closed meanwhile, or a disk that fails: that is said where records are written.
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
      // Not there yet: it has no disk to speak of.
      if (errnoOf(error) === undefined) throw error
    }
  }
  return disks
}
