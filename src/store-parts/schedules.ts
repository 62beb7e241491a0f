import type { OverlapPolicy, ScheduleRunStatus } from '../contracts/schedules.ts'
import type { Awaitable } from '../store.ts'

/** Schedules and what became of their times. Whatever changes one gives it a new version, so that each time is claimed once. */
export interface ScheduleStore {
  /**
   * CONFLICT when its principal has one of that name. With as many as `most`, the oldest one that is done,
   * and whose runs are over, makes room; BUDGET_EXCEEDED when none is.
   */
  add(schedule: StoredSchedule, limit: { readonly most: number }): Awaitable<void>
  find(id: string): Awaitable<StoredSchedule | undefined>
  /** By name, then by principal; all of them unless said. */
  list(filter?: { principal?: string; name?: string; limit?: number }): Awaitable<readonly StoredSchedule[]>
  /** Replaces one that still has this version; whether it had. */
  save(schedule: StoredSchedule): Awaitable<boolean>
  /** With everything that is known of its runs. */
  remove(id: string): Awaitable<boolean>
  /** Those that are on and whose time has come, earliest first. */
  due(now: number, limit: number): Awaitable<readonly StoredSchedule[]>
  /** When the next one is due. */
  nextAt(): Awaitable<number | undefined>
  /**
   * Moves a schedule on from the version it was read in, and puts its runs on the list: `skipped` where the overlap
   * says so. Nothing when another process was first.
   */
  fire(firing: Firing): Awaitable<readonly StoredScheduleRun[] | undefined>
  /** A run beside its times. */
  addRun(run: NewScheduleRun, overlap: Overlap): Awaitable<StoredScheduleRun>
  /** The waiting run begins: `wait` while an earlier one of the same schedule is not over, `gone` when it is not the owner's to begin. */
  begin(begun: {
    readonly id: string
    readonly owner: string
    readonly runId: string
    readonly startedAt: number
    readonly leasedUntil: number
    /** Not beside another run of the same schedule. */
    readonly isAlone: boolean
  }): Awaitable<'begun' | 'wait' | 'gone'>
  /** Says how a run ended, and forgets what is older than the `keep` latest of its schedule. An end that is known stays, but for `interrupted`. */
  end(end: {
    readonly id: string
    /** Only when it is this one's. */
    readonly owner: string
    readonly status: ScheduleRunStatus
    readonly endedAt: number
    readonly summary?: string
    readonly error?: string
    readonly untrusted?: boolean
    readonly keep: number
  }): Awaitable<boolean>
  /** The owner is still there: its runs are its own until then. */
  renew(owner: string, leasedUntil: number): Awaitable<void>
  /** A waiting run of one who is gone becomes another's. */
  takeOver(id: string, from: string, to: { readonly owner: string; readonly leasedUntil: number }): Awaitable<boolean>
  /** Runs that are not over, oldest first. */
  active(limit: number): Awaitable<readonly StoredScheduleRun[]>
  findRun(id: string): Awaitable<StoredScheduleRun | undefined>
  /** Newest first. */
  runs(filter: { schedule: string; before?: number; limit: number }): Awaitable<readonly StoredScheduleRun[]>
}

/** A schedule as it is kept: what is looked for in columns, the rest in `body`. */
export interface StoredSchedule {
  readonly id: string
  /** Empty for the hub's own owner. */
  readonly principal: string
  readonly name: string
  /** JSON of what it does and with which rights. */
  readonly body: string
  readonly state: 'on' | 'off' | 'done'
  readonly reason?: string
  /** The time it is about, and with the jitter when it is due; none where it has no next time. */
  readonly dueAt?: number
  readonly nextAt?: number
  readonly version: number
  readonly createdAt: number
  readonly runs: number
  readonly lastAt?: number
  readonly lastStatus?: ScheduleRunStatus
}

/** What a run may lie beside. */
export interface Overlap {
  readonly policy: OverlapPolicy
  /** More than so many that are not over are left out, whatever the policy. */
  readonly mostActive: number
}

/** A schedule moves on. */
export interface Firing {
  readonly id: string
  readonly version: number
  readonly state: StoredSchedule['state']
  readonly reason?: string
  readonly dueAt?: number
  readonly nextAt?: number
  readonly at: number
  readonly runs: readonly NewScheduleRun[]
  readonly overlap: Overlap
}

/** A run that is put on the list. */
export interface NewScheduleRun {
  readonly id: string
  readonly schedule: string
  readonly dueAt: number
  readonly status: 'waiting' | 'missed'
  readonly missed: number
  readonly owner: string
  readonly leasedUntil: number
}

/** A run with what became of it. */
export interface StoredScheduleRun {
  readonly id: string
  readonly schedule: string
  readonly seq: number
  readonly dueAt: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly status: ScheduleRunStatus
  readonly missed: number
  readonly runId?: string
  readonly summary?: string
  readonly error?: string
  readonly untrusted: boolean
  readonly owner: string
  readonly leasedUntil: number
}
