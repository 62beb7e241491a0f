import { randomBytes } from 'node:crypto'
import { type FeatureHost, messageOf } from '@tool-hub/core'
import { newOwner, retireOwner } from '@tool-hub/sandbox/system'
import { type KnownSchedule, toKnown, toRunView, toView } from './definition.ts'
import { executeCalls, failedOutcome, type Outcome, presentRights } from './execute-calls.ts'
import type { ScheduleRegistry } from './schedule-registry.ts'
import type { NewScheduleRun, Overlap, ScheduleStore, StoredSchedule, StoredScheduleRun } from './store-types.ts'
import type { Schedule, ScheduleRun, SchedulesOptions } from './types.ts'

/** Called when a run starts or ends in this process. */
export type RunListener = (run: ScheduleRun, schedule: Schedule) => void

/** A run that this process owns and has not started. */
interface Waiting {
  readonly run: StoredScheduleRun
  /** The owner of the schedule; empty for the owner of the hub. */
  readonly principal: string
  readonly isManual: boolean
}

const LEASE_MS = 30_000
const RENEW_MS = 10_000
const PARALLEL = 8
const KEEP = 200
const MAX_ACTIVE = 100
/** Further runs of a principal are skipped, so that they do not block other principals. */
const MAX_WAITING_OF_ONE = 250

/** Executes the runs that this process has claimed, within its limit of concurrent runs and the overlap policy of each schedule. */
export class ScheduleRunner {
  /** Identifies this runner in the store. */
  readonly owner: string
  readonly #host: FeatureHost
  readonly #registry: ScheduleRegistry
  readonly #options: SchedulesOptions
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<
    string,
    { readonly schedule: string; readonly principal: string; readonly runId: string; readonly ended: Promise<void> }
  >()
  /** The ids that runs of the hub would have had whose start the store did not confirm; it may have stored it. */
  readonly #attempted = new Map<string, string>()
  /** How runs ended here whose end the store did not take. */
  readonly #unstored = new Map<string, Outcome>()
  readonly #listeners = new Set<RunListener>()
  /** Resolvers of `ended` for runs that have not started. */
  readonly #waiters = new Set<() => void>()
  readonly #stop = new AbortController()
  readonly #leases: LeaseKeeper
  #pumping: Promise<void> | undefined
  #isAgain = false
  #isCalm = false

  constructor(host: FeatureHost, registry: ScheduleRegistry, options: SchedulesOptions) {
    this.owner = newOwner(host.process)
    this.#host = host
    this.#registry = registry
    this.#options = options
    const isNeeded = () => this.#waiting.size + this.#running.size > 0
    this.#leases = new LeaseKeeper(host, this.owner, isNeeded)
  }

  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.size }
  }

  /** How runs of a schedule may overlap. */
  overlapOf({ row: { principal }, definition }: KnownSchedule): Overlap {
    const isFull = principal !== '' && countOf(this.#waiting.values(), principal) >= MAX_WAITING_OF_ONE
    return { policy: definition.overlap, maxActive: isFull ? 0 : MAX_ACTIVE }
  }

  get keep(): number {
    return this.#options.keep ?? KEEP
  }

  get leasedUntil(): number {
    return this.#leases.until
  }

  /** A run to add to the store. */
  newRun(schedule: string, dueAt: number, missed: number, status: 'waiting' | 'missed' = 'waiting'): NewScheduleRun {
    const id = `time-${randomBytes(9).toString('base64url')}`
    return { id, schedule, dueAt, missed, status, owner: this.owner, leasedUntil: this.leasedUntil }
  }

  /** Queues runs that this process owns now. */
  accept(
    runs: readonly StoredScheduleRun[],
    { principal, isManual = false }: { readonly principal: string; readonly isManual?: boolean },
  ): void {
    for (const run of runs) if (run.status === 'waiting') this.#waiting.set(run.id, { run, principal, isManual })
    this.#leases.keep()
    this.pump()
  }

  /** Whether a run waits or runs in this process. */
  has(id: string): boolean {
    return this.#waiting.has(id) || this.#running.has(id)
  }

  /**
   * Continues with an active run that the store says this process has, and that neither waits nor runs here: the answer of
   * the store was lost when the run was added, or the store was away when it ended.
   */
  async recover(run: StoredScheduleRun, row: StoredSchedule): Promise<void> {
    const outcome = this.#unstored.get(run.id)
    if (outcome) await this.#end(run, toKnown(row), outcome)
    else this.accept([run], row)
  }

  /** Whether a run of the hub belongs to a schedule that runs here. */
  isOwnRun(run: string): boolean {
    return [...this.#running.values()].some(({ runId }) => runId === run)
  }

  onRun(listener: RunListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when a run of this process has ended, or will not start here. */
  async ended(id: string): Promise<StoredScheduleRun | undefined> {
    while (this.#running.has(id) || (this.#waiting.has(id) && !this.#isCalm)) {
      await (this.#running.get(id)?.ended ?? new Promise<void>((resolve) => this.#waiters.add(resolve)))
    }
    return this.#host.store.schedules.findRun(id)
  }

  /** Starts the waiting runs that may start. */
  pump(): void {
    this.#isAgain = true
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined
      // `pump` was called while the last pass ended.
      if (this.#isAgain) this.pump()
    })
  }

  /** Starts no further runs. */
  calm(): void {
    this.#isCalm = true
    this.#notifyWaiters()
  }

  /** Cancels active runs and stores their outcome. Waiting runs are left to other processes. */
  async close(): Promise<void> {
    this.calm()
    this.#stop.abort()
    await this.#pumping
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
    this.#waiting.clear()
    this.#leases.close()
    this.#notifyWaiters()
    retireOwner(this.owner)
  }

  async #pump(): Promise<void> {
    const { parallel = PARALLEL } = this.#options
    while (this.#isAgain) {
      this.#isAgain = false
      for (const waiting of [...this.#waiting.values()]) {
        // A run that ends calls `pump` again.
        if (this.#isCalm || this.#running.size >= parallel) break
        if (!this.#hasRoomFor(waiting.principal, parallel)) continue
        // A run that fails to start is tried again in the next pass, and does not block others.
        const warn = (error: unknown) => this.#host.warn(`A schedule could not be run: ${messageOf(error)}`)
        await this.#tryToBegin(waiting).catch(warn)
      }
    }
  }

  /** A principal gets at most half of the slots, because its runs may wait long for approval. */
  #hasRoomFor(principal: string, parallel: number): boolean {
    return principal === '' || countOf(this.#running.values(), principal) < Math.ceil(parallel / 2)
  }

  async #tryToBegin({ run, isManual }: Waiting): Promise<void> {
    const row = await this.#host.store.schedules.find(run.schedule)
    if (!row) return this.#forget(run.id)
    const known = toKnown(row)
    const isAlone = known.definition.overlap !== 'parallel'
    if (isAlone && [...this.#running.values()].some(({ schedule }) => schedule === row.id)) return
    if (row.state === 'off' && !isManual)
      return this.#end(run, known, { status: 'skipped', error: 'The schedule is disabled.' })
    const present = await presentRights(known.definition.rights, this.#host)
    if (!present.ok) {
      if (present.isForGood) await this.#registry.switchOff(row.id, present.why)
      return this.#end(run, known, { status: 'denied', error: present.why })
    }
    const runId = this.#attempted.get(run.id) ?? runIdOf(row.name, this.#host.clock.now())
    const begun = {
      id: run.id,
      owner: this.owner,
      runId,
      startedAt: this.#host.clock.now(),
      leasedUntil: this.leasedUntil,
    }
    if (this.#isCalm) return
    const outcome = await this.#begin({ ...begun, isAlone })
    if (outcome === 'wait') return
    this.#forget(run.id)
    if (outcome === 'gone') return
    const work = this.#execute(run, known, () => {
      const { signal } = this.#stop
      return executeCalls({
        ...{ known, rights: present.rights, runId, host: this.#host, signal },
        checkContinue: () => this.#checkContinue(row.id, isManual),
      })
    })
    this.#running.set(run.id, { schedule: row.id, principal: row.principal, runId, ended: work })
    this.#leases.keep()
    await this.#emit(run.id, known)
  }

  async #begin(begun: Parameters<ScheduleStore['begin']>[0]) {
    const { schedules } = this.#host.store
    const { id, owner, runId } = begun
    const wasAttempted = this.#attempted.has(id)
    this.#attempted.set(id, runId)
    const outcome = await schedules.begin(begun)
    const stored = outcome === 'gone' && wasAttempted ? await schedules.findRun(id) : undefined
    this.#attempted.delete(id)
    return stored?.status === 'running' && stored.owner === owner && stored.runId === runId ? 'begun' : outcome
  }

  async #execute(run: StoredScheduleRun, known: KnownSchedule, work: () => Promise<Outcome>): Promise<void> {
    // Lets the caller register the run first.
    await Promise.resolve()
    const outcome = await work().catch(failedOutcome)
    try {
      await this.#end(run, known, outcome)
    } catch (error) {
      this.#unstored.set(run.id, outcome)
      this.#host.warn(`The outcome of ${known.row.name} could not be stored: ${messageOf(error)}`)
    } finally {
      this.#running.delete(run.id)
      this.pump()
    }
  }

  async #end({ id }: StoredScheduleRun, known: KnownSchedule, outcome: Outcome): Promise<void> {
    const end = { ...outcome, id, owner: this.owner, endedAt: this.#host.clock.now(), keep: this.keep }
    await this.#host.store.schedules.end(end)
    this.#unstored.delete(id)
    this.#forget(id)
    await this.#emit(id, known)
  }

  /** The schedule may have been removed or disabled since the run started. */
  async #checkContinue(id: string, isManual: boolean): Promise<string | undefined> {
    if (this.#isCalm) return 'The hub was closed.'
    const row = await this.#host.store.schedules.find(id)
    if (!row) return 'The schedule was removed.'
    return row.state === 'off' && !isManual ? 'The schedule was disabled.' : undefined
  }

  async #emit(id: string, known: KnownSchedule): Promise<void> {
    this.#host.emitChange('schedules', known.row.id)
    const run = await this.#host.store.schedules.findRun(id)
    if (!run) return
    for (const listener of this.#listeners) {
      try {
        listener(toRunView(run), toView(known))
      } catch {
        // A listener that throws must not affect the run.
      }
    }
  }

  #forget(id: string): void {
    this.#waiting.delete(id)
    this.#notifyWaiters()
  }

  #notifyWaiters(): void {
    for (const resolve of this.#waiters) resolve()
    this.#waiters.clear()
  }
}

function countOf(those: Iterable<{ readonly principal: string }>, principal: string): number {
  return [...those].filter((each) => each.principal === principal).length
}

/** A valid run id with the name of the schedule and the time. */
function runIdOf(name: string, now: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `cron-${name.replaceAll(/[^a-zA-Z0-9._-]+/g, '-').slice(0, 32)}-${stamp}-${randomBytes(3).toString('hex')}`
}

/** Renews the leases of this process while it has runs, so that other processes do not take them over. */
export class LeaseKeeper {
  readonly #host: Pick<FeatureHost, 'store' | 'clock'>
  readonly #owner: string
  readonly #isNeeded: () => boolean
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(host: Pick<FeatureHost, 'store' | 'clock'>, owner: string, isNeeded: () => boolean) {
    this.#host = host
    this.#owner = owner
    this.#isNeeded = isNeeded
  }

  /** When a lease that is taken now expires. */
  get until(): number {
    return this.#host.clock.now() + LEASE_MS
  }

  keep(): void {
    if (!this.#isClosed)
      this.#cancel ??= this.#host.clock.after(RENEW_MS, () => void this.#renew(), { background: true })
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  async #renew(): Promise<void> {
    this.#cancel = undefined
    if (!this.#isNeeded()) return
    try {
      await this.#host.store.schedules.renew(this.#owner, this.until)
    } catch {
      // The lease lasts three intervals, so the next renewal is in time.
    }
    this.keep()
  }
}
