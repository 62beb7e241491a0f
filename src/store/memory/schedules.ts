import { ToolError } from '../../errors.ts'
import type {
  Firing,
  NewScheduleRun,
  Overlap,
  ScheduleStore,
  StoredSchedule,
  StoredScheduleRun,
} from '../../store-parts/schedules.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { pageSize } from '../rules/page-size.ts'
import { duplicateSchedule, tooManySchedules } from '../rules/schedule-refusals.ts'
import { assertRoom } from './assert-room.ts'

/** Schedules in memory. */
export class MemorySchedules implements ScheduleStore {
  readonly #schedules = new Map<string, StoredSchedule>()
  /** In the order of `seq`. */
  readonly #runs = new Map<string, StoredScheduleRun>()
  readonly #max: number
  #seq = 0

  constructor(max: number) {
    this.#max = max
  }

  add(schedule: StoredSchedule, { most }: { readonly most: number }): void {
    const own = this.list({ principal: schedule.principal })
    const busy = new Set(this.#active().map(({ schedule }) => schedule))
    const done = own
      .filter(({ id, state }) => state === 'done' && !busy.has(id))
      .sort((a, b) => a.createdAt - b.createdAt)[0]
    if (own.length >= most && !done) throw tooManySchedules(own.length, most)
    if (own.some(({ name }) => name === schedule.name)) throw duplicateSchedule(schedule.name)
    if (own.length >= most && done) this.remove(done.id)
    assertRoom(this.#schedules, this.#max, 'schedules')
    this.#schedules.set(schedule.id, { ...schedule })
  }

  find(id: string): StoredSchedule | undefined {
    return this.#schedules.get(id)
  }

  list({ principal, name, limit }: { principal?: string; name?: string; limit?: number } = {}): StoredSchedule[] {
    return [...this.#schedules.values()]
      .filter((each) => (principal ?? each.principal) === each.principal && (name ?? each.name) === each.name)
      .sort((a, b) => compareIds(a.name, b.name) || compareIds(a.principal, b.principal))
      .slice(0, pageSize(limit))
  }

  save(schedule: StoredSchedule): boolean {
    const known = this.#schedules.get(schedule.id)
    if (known?.version !== schedule.version) return false
    const { body, state, version } = schedule
    const { dueAt: _due, nextAt: _next, reason: _reason, ...rest } = known
    this.#schedules.set(schedule.id, { ...rest, body, state, version: version + 1, ...timesOf(schedule) })
    return true
  }

  remove(id: string): boolean {
    for (const [key, { schedule }] of this.#runs) if (schedule === id) this.#runs.delete(key)
    return this.#schedules.delete(id)
  }

  due(now: number, limit: number): readonly StoredSchedule[] {
    return [...this.#schedules.values()]
      .filter(({ nextAt }) => nextAt !== undefined && nextAt <= now)
      .sort((a, b) => a.nextAt! - b.nextAt! || compareIds(a.id, b.id))
      .slice(0, limit)
  }

  nextAt(): number | undefined {
    let next: number | undefined
    for (const { nextAt } of this.#schedules.values())
      if (nextAt !== undefined && (next === undefined || nextAt < next)) next = nextAt
    return next
  }

  fire(firing: Firing): readonly StoredScheduleRun[] | undefined {
    const known = this.#schedules.get(firing.id)
    if (known?.version !== firing.version) return undefined
    const times = firing.runs.filter(({ status }) => status === 'waiting').length
    const { dueAt: _due, nextAt: _next, reason: _reason, ...rest } = known
    const moved = { state: firing.state, version: known.version + 1, lastAt: firing.at, runs: known.runs + times }
    this.#schedules.set(firing.id, { ...rest, ...moved, ...timesOf(firing) })
    return this.#put(firing.runs, firing.overlap)
  }

  addRun(run: NewScheduleRun, overlap: Overlap): StoredScheduleRun {
    if (!this.#schedules.has(run.schedule)) throw new ToolError('NOT_FOUND', 'The schedule is not there any more.')
    return this.#put([run], overlap)[0]!
  }

  begin({ id, owner, runId, startedAt, leasedUntil, isAlone }: Parameters<ScheduleStore['begin']>[0]) {
    const run = this.#runs.get(id)
    if (!run) return 'gone'
    const others = this.#active().filter((each) => each.schedule === run.schedule && each.id !== id)
    if (isAlone && others.some(({ status, seq }) => status === 'running' || seq < run.seq)) return 'wait'
    if (run.owner !== owner || run.status !== 'waiting') return 'gone'
    this.#runs.set(id, { ...run, status: 'running', runId, startedAt, leasedUntil })
    return 'begun'
  }

  end(end: Parameters<ScheduleStore['end']>[0]): boolean {
    const { id, owner, status, endedAt, summary, error, untrusted = false, keep } = end
    const run = this.#runs.get(id)
    if (!run || run.owner !== owner || !(isActive(run) || run.status === 'interrupted')) return false
    const { summary: _summary, error: _error, ...rest } = run
    const said = { ...(summary !== undefined && { summary }), ...(error !== undefined && { error }) }
    this.#runs.set(id, { ...rest, status, endedAt, untrusted, ...said })
    this.#told(run.schedule, status)
    const known = [...this.#runs.values()].filter(({ schedule }) => schedule === run.schedule)
    for (const old of known.slice(0, Math.max(0, known.length - keep))) if (!isActive(old)) this.#runs.delete(old.id)
    return true
  }

  renew(owner: string, leasedUntil: number): void {
    for (const run of this.#active()) if (run.owner === owner) this.#runs.set(run.id, { ...run, leasedUntil })
  }

  takeOver(id: string, from: string, to: { readonly owner: string; readonly leasedUntil: number }): boolean {
    const run = this.#runs.get(id)
    if (run?.owner !== from || run.status !== 'waiting') return false
    this.#runs.set(id, { ...run, ...to })
    return true
  }

  active(limit: number): readonly StoredScheduleRun[] {
    return this.#active().slice(0, limit)
  }

  findRun(id: string): StoredScheduleRun | undefined {
    return this.#runs.get(id)
  }

  runs({ schedule, before = Number.POSITIVE_INFINITY, limit }: { schedule: string; before?: number; limit: number }) {
    return [...this.#runs.values()]
      .filter((run) => run.schedule === schedule && run.seq < before)
      .reverse()
      .slice(0, pageSize(limit))
  }

  #put(runs: readonly NewScheduleRun[], { policy, mostActive }: Overlap): StoredScheduleRun[] {
    const before = this.#active().filter(({ schedule }) => schedule === runs[0]?.schedule).length
    let held = before
    return runs.map((run) => {
      const isLeftOut = run.status === 'waiting' && ((policy === 'skip' && before > 0) || held >= mostActive)
      const status = isLeftOut ? 'skipped' : run.status
      const stored: StoredScheduleRun = { ...run, status, seq: ++this.#seq, untrusted: false }
      this.#makeRoom()
      this.#runs.set(run.id, stored)
      if (status === 'waiting') held++
      else this.#told(run.schedule, status)
      return stored
    })
  }

  /** What was over first is forgotten first. */
  #makeRoom(): void {
    if (this.#runs.size < this.#max) return
    for (const run of this.#runs.values()) {
      if (isActive(run)) continue
      this.#runs.delete(run.id)
      return
    }
    assertRoom(this.#runs, this.#max, 'runs of schedules')
  }

  #told(id: string, lastStatus: StoredScheduleRun['status']): void {
    const schedule = this.#schedules.get(id)
    if (schedule) this.#schedules.set(id, { ...schedule, lastStatus })
  }

  #active(): StoredScheduleRun[] {
    return [...this.#runs.values()].filter(isActive)
  }
}

function isActive({ status }: StoredScheduleRun): boolean {
  return status === 'waiting' || status === 'running'
}

/** As far as there are any. */
function timesOf({ dueAt, nextAt, reason }: Pick<Firing, 'dueAt' | 'nextAt' | 'reason'>) {
  return {
    ...(dueAt !== undefined && { dueAt }),
    ...(nextAt !== undefined && { nextAt }),
    ...(reason !== undefined && { reason }),
  }
}
