import { type FeatureHost, messageOf, watchTopic } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { isOwnerAlive } from '@tool-hub/sandbox/system'
import { type Definition, toKnown } from './definition.ts'
import { nextOf } from './schedule-registry.ts'
import type { ScheduleRunner } from './schedule-runner.ts'
import type { Firing, StoredSchedule, StoredScheduleRun } from './store-types.ts'
import { nextTime, passedTimes } from './times.ts'

/** A time that passed longer ago was missed. */
const GRACE_MS = 60_000

const LOOK_MS = 5_000
/** Delay after a change event, so that several cause one pass. */
const SOON_MS = 100
const BATCH = 100
const MAX_WAITING = 1_000
const MAX_ACTIVE = 1_000
/** The slot in the store that a process holds while it runs schedules. */
export const TICKING_SLOT = 'schedules:ticking'
const TICKING_MS = 15_000

/**
 * Fires schedules that are due. One timer waits for the next time in the store. If several processes fire the same time,
 * the first one to update the schedule wins. Times are compared with the clock, never counted, so the clock may jump.
 */
export class Ticker {
  readonly #host: FeatureHost
  readonly #runner: ScheduleRunner
  #isOn = false
  #isClosed = false
  #isLooking = false
  /** Whether schedules changed since the last pass began. */
  #hasNews = false
  #cancel: (() => void) | undefined
  #unwatch: (() => void) | undefined
  #lookedForLostAt = Number.NEGATIVE_INFINITY
  /** Active runs that the store said this process has, and that it did not know at the last look. */
  #strays: ReadonlySet<string> = new Set()

  constructor(host: FeatureHost, runner: ScheduleRunner) {
    this.#host = host
    this.#runner = runner
  }

  get isOn(): boolean {
    return this.#isOn
  }

  async start(): Promise<void> {
    if (this.#isOn || this.#isClosed) return
    this.#isOn = true
    this.#unwatch = watchTopic(this.#host.store.events, 'feature', (body) => {
      const change = parseJson(body) as { readonly feature?: unknown } | undefined
      if (change?.feature === 'schedules') this.#onNews()
    })
    await this.#look()
  }

  async stop(): Promise<void> {
    if (!this.#isOn) return
    this.#isOn = false
    this.#cancel?.()
    this.#cancel = undefined
    this.#unwatch?.()
    await this.#host.store.slots.release(TICKING_SLOT, this.#runner.owner)
  }

  /** Stops permanently; a later `start` does nothing. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.stop()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    this.#hasNews = false
    let waitMs = LOOK_MS
    try {
      waitMs = await this.#fireDue()
    } catch (error) {
      this.#host.warn(`Schedules could not be checked: ${messageOf(error)}`)
    }
    this.#isLooking = false
    this.#lookIn(this.#hasNews ? Math.min(waitMs, SOON_MS) : waitMs)
  }

  #onNews(): void {
    this.#runner.pump()
    const isComing = this.#hasNews
    this.#hasNews = true
    if (!isComing && !this.#isLooking) this.#lookIn(SOON_MS)
  }

  #lookIn(waitMs: number): void {
    this.#cancel?.()
    if (this.#isOn) this.#cancel = this.#host.clock.after(waitMs, () => void this.#look(), { background: true })
  }

  /** Fires what is due. Returns how long to wait for the next pass. */
  async #fireDue(): Promise<number> {
    const { schedules } = this.#host.store
    const { clock } = this.#host
    await this.#lookForLost()
    while (this.#isOn && this.#runner.counts.waiting < MAX_WAITING) {
      const due = await schedules.due(clock.now(), BATCH)
      for (const row of due) if (this.#isOn) await this.#fireOrSwitchOff(row)
      if (due.length < BATCH) break
    }
    this.#runner.pump()
    const next = await schedules.nextAt()
    if (next === undefined) return LOOK_MS
    return Math.min(Math.max(next - clock.now(), 0) || SOON_MS, LOOK_MS)
  }

  /** Disables a schedule that cannot be read, so that it does not block the others. */
  async #fireOrSwitchOff(row: StoredSchedule): Promise<void> {
    let firing: Firing
    try {
      firing = this.#plan(row)
    } catch (error) {
      const { dueAt: _, nextAt: __, ...rest } = row
      await this.#host.store.schedules.save({ ...rest, state: 'off', reason: messageOf(error).slice(0, 500) })
      return
    }
    const fired = await this.#host.store.schedules.fire(firing)
    if (!fired) return
    this.#runner.accept(fired, row)
    this.#host.emitChange('schedules', row.id)
  }

  #plan(row: StoredSchedule): Firing {
    const known = toKnown(row)
    const { definition } = known
    const now = this.#host.clock.now()
    const plan = planFiring(definition, row.dueAt ?? now, now)
    const left = definition.maxRuns === undefined ? plan.times.length : definition.maxRuns - row.runs
    const times = plan.times.slice(0, Math.max(0, left))
    const isUsedUp = definition.maxRuns !== undefined && row.runs + times.length >= definition.maxRuns
    const next = plan.next === undefined || isUsedUp ? undefined : nextOf(definition, plan.next - 1)
    const runs = times.map((time, index) => this.#runner.newRun(row.id, time, index === 0 ? plan.missed : 0))
    return {
      ...{ id: row.id, version: row.version, at: now, overlap: this.#runner.overlapOf(known) },
      state: next ? 'on' : 'done',
      ...next,
      runs: runs.length > 0 ? runs : [this.#runner.newRun(row.id, plan.last, plan.missed, 'missed')],
    }
  }

  /**
   * Settles the runs of processes that have ended: active ones were interrupted, waiting ones are taken over. Runs of this
   * process that it does not know are settled, too.
   */
  async #lookForLost(): Promise<void> {
    const { clock, store } = this.#host
    const now = clock.now()
    // The absolute value, because the clock may be set back.
    if (Math.abs(now - this.#lookedForLostAt) < LOOK_MS) return
    this.#lookedForLostAt = now
    const { owner } = this.#runner
    await store.slots.lease(TICKING_SLOT, { owner, now, until: now + TICKING_MS })
    const active = await store.schedules.active(MAX_ACTIVE)
    const strays = active.filter((run) => run.owner === owner && !this.#runner.has(run.id))
    const lost = active.filter((run) => run.owner !== owner && (run.leasedUntil <= now || !isOwnerAlive(run.owner)))
    // One that is seen for the first time may be about to be accepted, or to end.
    for (const run of [...lost, ...strays.filter(({ id }) => this.#strays.has(id))]) {
      await this.#settleLost(run, now).catch((error) =>
        this.#host.warn(`An abandoned run could not be settled: ${messageOf(error)}`),
      )
    }
    this.#strays = new Set(strays.map(({ id }) => id))
  }

  async #settleLost(run: StoredScheduleRun, now: number): Promise<void> {
    const { schedules } = this.#host.store
    const row = await schedules.find(run.schedule)
    if (!row) return
    const { owner, keep, leasedUntil } = this.#runner
    if (run.owner === owner) return this.#runner.recover(run, row)
    const end = { id: run.id, owner: run.owner, endedAt: now, keep }
    if (run.status === 'running') {
      const error = 'The process ended during the run; the records show the calls it had started.'
      await schedules.end({ ...end, status: 'interrupted', error })
    } else if (toKnown(row).definition.missed === 'skip') {
      await schedules.end({ ...end, status: 'missed', error: 'The process ended before it started the run.' })
    } else if (await schedules.takeOver(run.id, run.owner, { owner, leasedUntil })) {
      this.#runner.accept([{ ...run, owner, leasedUntil }], row)
    }
    this.#host.emitChange('schedules', row.id)
  }
}

/** Which times to run now, and the next time. */
interface Plan {
  /** Times to run, oldest first. */
  readonly times: readonly number[]
  /** How many past times are not run; 100 means 100 or more. */
  readonly missed: number
  /** The last time that passed. */
  readonly last: number
  readonly next?: number
}

/** Decides which times from `dueAt` to now are run, by the policy for missed times. */
export function planFiring(definition: Definition, dueAt: number, now: number): Plan {
  const passed = passedTimes(definition, dueAt, now)
  const last = passed.at(-1)!
  const times = timesOf(definition, passed, now)
  const next = nextTime(definition, Math.max(now, last))
  return { times, missed: passed.length - times.length, last, ...(next !== undefined && { next }) }
}

function timesOf({ missed, jitterMs }: Definition, passed: readonly number[], now: number): readonly number[] {
  const last = passed.slice(-1)
  if (missed === 'all') return passed
  if (missed === 'once') return last
  return now - last[0]! <= GRACE_MS + jitterMs ? last : []
}
