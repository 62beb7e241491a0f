import { randomBytes } from 'node:crypto'
import { type FeatureHost, messageOf, type Principal, type Rights, rootsOf } from '../../core/index.ts'
import { newOwner, retireOwner } from '../../system/index.ts'
import { type KnownSchedule, toKnown, toRunView, toView } from './definition.ts'
import { executeCalls, failedOutcome, type Outcome } from './execute-calls.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import type { ScheduleRegistry } from './schedule-registry.ts'
import type { NewScheduleRun, Overlap, StoredScheduleRun } from './schedule-store.ts'
import type { Schedule, ScheduleRun, SchedulesOptions } from './types.ts'

/** Hears of runs that begin or end here. */
export type RunListener = (run: ScheduleRun, schedule: Schedule) => void

/** A run that this process has to make. */
interface Waiting {
  readonly run: StoredScheduleRun
  /** Whose schedule it is; empty for the hub's own owner. */
  readonly principal: string
  readonly isManual: boolean
}

const PARALLEL = 8
const KEEP = 200
const MAX_ACTIVE = 100
/** More that wait are left out: they must not keep the times of others from being looked at. */
const MAX_WAITING_OF_ONE = 250

/** Makes the runs that this process has claimed: so many at once, those of one schedule as its overlap says. */
export class ScheduleRunner {
  /** Names this part of this process in the store. */
  readonly owner = newOwner()
  readonly #host: FeatureHost
  readonly #book: ScheduleRegistry
  readonly #options: SchedulesOptions
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<
    string,
    { readonly schedule: string; readonly principal: string; readonly runId: string; readonly ended: Promise<void> }
  >()
  readonly #listeners = new Set<RunListener>()
  /** Those who wait for a run that has not begun. */
  readonly #waiters = new Set<() => void>()
  readonly #stop = new AbortController()
  readonly #leases: LeaseKeeper
  #pumping: Promise<void> | undefined
  #isAgain = false
  #isCalm = false

  constructor(host: FeatureHost, book: ScheduleRegistry, options: SchedulesOptions) {
    this.#host = host
    this.#book = book
    this.#options = options
    const isNeeded = () => this.#waiting.size + this.#running.size > 0
    this.#leases = new LeaseKeeper(host, this.owner, isNeeded)
  }

  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.size }
  }

  /** How runs of a schedule lie beside each other. */
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

  /** A run for the list. */
  newRun(schedule: string, dueAt: number, missed: number, status: 'waiting' | 'missed' = 'waiting'): NewScheduleRun {
    const id = `time-${randomBytes(9).toString('base64url')}`
    return { id, schedule, dueAt, missed, status, owner: this.owner, leasedUntil: this.leasedUntil }
  }

  /** Takes runs that are this process' own now. */
  accept(
    runs: readonly StoredScheduleRun[],
    { principal, isManual = false }: { readonly principal: string; readonly isManual?: boolean },
  ): void {
    for (const run of runs) if (run.status === 'waiting') this.#waiting.set(run.id, { run, principal, isManual })
    this.#leases.keep()
    this.pump()
  }

  /** Whether a run of the hub is one of a schedule's, here. */
  isOwnRun(run: string): boolean {
    return [...this.#running.values()].some(({ runId }) => runId === run)
  }

  onRun(listener: RunListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when a run of this process is over, or was never begun. */
  async ended(id: string): Promise<StoredScheduleRun | undefined> {
    while (this.#running.has(id) || (this.#waiting.has(id) && !this.#isCalm)) {
      await (this.#running.get(id)?.ended ?? new Promise<void>((told) => this.#waiters.add(told)))
    }
    return this.#host.store.schedules.findRun(id)
  }

  /** Begins what may begin. */
  pump(): void {
    this.#isAgain = true
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined
      // Somebody asked just when it was over.
      if (this.#isAgain) this.pump()
    })
  }

  /** Begins nothing new. */
  calm(): void {
    this.#isCalm = true
    this.#tellChanged()
  }

  /** Stops what is under way, and waits until that is known. What waits is another process' to make. */
  async close(): Promise<void> {
    this.calm()
    this.#stop.abort()
    await this.#pumping
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
    this.#waiting.clear()
    this.#leases.close()
    this.#tellChanged()
    retireOwner(this.owner)
  }

  async #pump(): Promise<void> {
    const { parallel = PARALLEL } = this.#options
    while (this.#isAgain) {
      this.#isAgain = false
      for (const waiting of [...this.#waiting.values()]) {
        // Whoever ends makes room, and asks again.
        if (this.#isCalm || this.#running.size >= parallel) break
        if (!this.#hasRoomFor(waiting.principal, parallel)) continue
        // One that cannot begin waits for the next look, and keeps no other from it.
        const warn = (error: unknown) => this.#host.warn(`A schedule could not be run: ${messageOf(error)}`)
        await this.#tryToBegin(waiting).catch(warn)
      }
    }
  }

  /** Others get their turn, however long what one of them has begun waits for a person. */
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
      return this.#end(run, known, { status: 'skipped', error: 'It was switched off.' })
    const present = await presentRights(known.definition.rights, this.#host)
    if (!present.ok) {
      if (present.isForGood) await this.#book.switchOff(row.id, present.why)
      return this.#end(run, known, { status: 'denied', error: present.why })
    }
    const runId = runIdOf(row.name, this.#host.clock.now())
    const begun = {
      id: run.id,
      owner: this.owner,
      runId,
      startedAt: this.#host.clock.now(),
      leasedUntil: this.leasedUntil,
    }
    if (this.#isCalm) return
    const outcome = await this.#host.store.schedules.begin({ ...begun, isAlone })
    if (outcome === 'wait') return
    this.#forget(run.id)
    if (outcome === 'gone') return
    const work = this.#execute(run, known, () => {
      const { signal } = this.#stop
      return executeCalls({
        ...{ known, rights: present.rights, runId, host: this.#host, signal },
        mayGoOn: () => this.#mayGoOn(row.id, isManual),
      })
    })
    this.#running.set(run.id, { schedule: row.id, principal: row.principal, runId, ended: work })
    this.#leases.keep()
    await this.#tell(run.id, known)
  }

  async #execute(run: StoredScheduleRun, known: KnownSchedule, work: () => Promise<Outcome>): Promise<void> {
    // First it is known to be running.
    await Promise.resolve()
    const outcome = await work().catch(failedOutcome)
    try {
      await this.#end(run, known, outcome)
    } catch (error) {
      this.#host.warn(`How ${known.row.name} ended could not be kept: ${messageOf(error)}`)
    } finally {
      this.#running.delete(run.id)
      this.pump()
    }
  }

  async #end({ id }: StoredScheduleRun, known: KnownSchedule, outcome: Outcome): Promise<void> {
    const end = { ...outcome, id, owner: this.owner, endedAt: this.#host.clock.now(), keep: this.keep }
    await this.#host.store.schedules.end(end)
    this.#forget(id)
    await this.#tell(id, known)
  }

  /** Somebody may have taken it away, or switched it off, while it was under way. */
  async #mayGoOn(id: string, isManual: boolean): Promise<string | undefined> {
    if (this.#isCalm) return 'The hub was closed.'
    const row = await this.#host.store.schedules.find(id)
    if (!row) return 'The schedule was removed.'
    return row.state === 'off' && !isManual ? 'The schedule was switched off.' : undefined
  }

  async #tell(id: string, known: KnownSchedule): Promise<void> {
    this.#host.emitChange('schedules', known.row.id)
    const run = await this.#host.store.schedules.findRun(id)
    if (!run) return
    for (const listener of this.#listeners) {
      try {
        listener(toRunView(run), toView(known))
      } catch {
        // It only listens: what it does about it is its own matter.
      }
    }
  }

  #forget(id: string): void {
    this.#waiting.delete(id)
    this.#tellChanged()
  }

  #tellChanged(): void {
    for (const told of this.#waiters) told()
    this.#waiters.clear()
  }
}

function countOf(those: Iterable<{ readonly principal: string }>, principal: string): number {
  return [...those].filter((each) => each.principal === principal).length
}

/** Says which schedule and when; fits the rule for run ids whatever the name. */
function runIdOf(name: string, now: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `cron-${name.replaceAll(/[^a-zA-Z0-9._-]/g, '-').slice(0, 32)}-${stamp}-${randomBytes(3).toString('hex')}`
}

/** What somebody may now of what it might then; or why nothing. */
type PresentRights =
  | { readonly ok: true; readonly rights: Rights }
  | { readonly ok: false; readonly why: string; readonly isForGood: boolean }

/** Looks again at rights that were captured: both what held then and what holds now must allow a call. */
export async function presentRights(
  captured: Rights,
  { principalNow }: Pick<FeatureHost, 'principalNow'>,
): Promise<PresentRights> {
  const { principal: then } = captured
  if (!then) return { ok: true, rights: captured }
  const now = await principalNow(then)
  if (!now)
    return { ok: false, why: `${then.name}, whose schedule it is, is gone or may not call any more.`, isForGood: true }
  if (textOf(rootsOf(now)) !== textOf(rootsOf(then)))
    return {
      ok: false,
      why: `The folders of ${then.name} are others than when it was made. Make it anew.`,
      isForGood: false,
    }
  return { ok: true, rights: { ...captured, principal: textOf(now) === textOf(then) ? then : narrowed(now, then) } }
}

/** All of what holds now, within all of what held then. */
function narrowed(now: Principal, then: Principal): Principal {
  return { ...now, within: now.within ? narrowed(now.within, then) : uncounted(then) }
}

/** What was counted then is counted now, and once. */
function uncounted({ budget: _, budgetFor: __, rate: ___, chargedRuns: ____, within, ...rest }: Principal): Principal {
  return { ...rest, ...(within && { within: uncounted(within) }) }
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
