import type { OverlapPolicy, ScheduleRunStatus } from '../contracts/schedules.ts'
import type { Awaitable } from '../store.ts'

/** Schedules and what became of their times. Whatever changes one gives it a new version, so that each time is claimed once. */
export interface ScheduleStore {
  /**
   * CONFLICT when its principal has one of that name. With as many as `most`, the oldest one that is done,
   * and whose runs are over, makes room; BUDGET_EXCEEDED when none is.
   */
  add(schedule: StoredSchedule, limit: { readonly most: number }): Awaitable<void>
  /** A schedule by its id; `undefined` if there is none. */
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
    /** Id of the run. */
    readonly id: string
    /** The process that begins it. */
    readonly owner: string
    /** The hub's run that its calls belong to. */
    readonly runId: string
    /** When it begins. */
    readonly startedAt: number
    /** Until when it is the owner's, unless that renews it. */
    readonly leasedUntil: number
    /** Not beside another run of the same schedule. */
    readonly isAlone: boolean
  }): Awaitable<'begun' | 'wait' | 'gone'>
  /** Says how a run ended, and forgets what is older than the `keep` latest of its schedule. An end that is known stays, but for `interrupted`. */
  end(end: {
    /** Id of the run. */
    readonly id: string
    /** Only when it is this one's. */
    readonly owner: string
    /** What became of it. */
    readonly status: ScheduleRunStatus
    /** When it was over. */
    readonly endedAt: number
    /** What its calls did, in one line. */
    readonly summary?: string
    /** Why it failed. */
    readonly error?: string
    /** What it tells came from outside. */
    readonly untrusted?: boolean
    /** How many runs of the schedule are remembered. */
    readonly keep: number
  }): Awaitable<boolean>
  /** The owner is still there: its runs are its own until then. */
  renew(owner: string, leasedUntil: number): Awaitable<void>
  /** A waiting run of one who is gone becomes another's. */
  takeOver(id: string, from: string, to: { readonly owner: string; readonly leasedUntil: number }): Awaitable<boolean>
  /** Runs that are not over, oldest first. */
  active(limit: number): Awaitable<readonly StoredScheduleRun[]>
  /** A run by its id; `undefined` if there is none. */
  findRun(id: string): Awaitable<StoredScheduleRun | undefined>
  /** Newest first. */
  runs(filter: { schedule: string; before?: number; limit: number }): Awaitable<readonly StoredScheduleRun[]>
}

/** A schedule as it is kept: what is looked for in columns, the rest in `body`. */
export interface StoredSchedule {
  /** Unique among all schedules. */
  readonly id: string
  /** Empty for the hub's own owner. */
  readonly principal: string
  /** Unique among those of one principal. */
  readonly name: string
  /** JSON of what it does and with which rights. */
  readonly body: string
  /** `done` when it has no time to come. */
  readonly state: 'on' | 'off' | 'done'
  /** Why it is off, when nobody switched it off. */
  readonly reason?: string
  /** The time it is about, and with the jitter when it is due; none where it has no next time. */
  readonly dueAt?: number
  /** When it is due, jitter included. */
  readonly nextAt?: number
  /** Changes with every write; `save` and `fire` need the one that was read. */
  readonly version: number
  /** When it was made. */
  readonly createdAt: number
  /** How often it has fired. */
  readonly runs: number
  /** When it was due last; absent before its first time. */
  readonly lastAt?: number
  /** What became of its last time. */
  readonly lastStatus?: ScheduleRunStatus
}

/** What a run may lie beside. */
export interface Overlap {
  /** What happens while an earlier run is not over. */
  readonly policy: OverlapPolicy
  /** More than so many that are not over are left out, whatever the policy. */
  readonly mostActive: number
}

/** A schedule moves on. */
export interface Firing {
  /** Id of the schedule. */
  readonly id: string
  /** The version that it was read in. */
  readonly version: number
  /** Its state from now on. */
  readonly state: StoredSchedule['state']
  /** Why it is off, where it is. */
  readonly reason?: string
  /** Its next time; absent when it has none. */
  readonly dueAt?: number
  /** When that is due, jitter included. */
  readonly nextAt?: number
  /** Now. */
  readonly at: number
  /** Runs to put on the list. */
  readonly runs: readonly NewScheduleRun[]
  /** What other runs of the schedule they may overlap with. */
  readonly overlap: Overlap
}

/** A run that is put on the list. */
export interface NewScheduleRun {
  /** Unique among all runs of schedules. */
  readonly id: string
  /** Id of the schedule. */
  readonly schedule: string
  /** When it is to begin. */
  readonly dueAt: number
  /** `missed` for a time that is left out. */
  readonly status: 'waiting' | 'missed'
  /** Earlier times that it stands for. */
  readonly missed: number
  /** The process that is to begin it. */
  readonly owner: string
  /** Until when it is the owner's, unless that renews it. */
  readonly leasedUntil: number
}

/** A run with what became of it. */
export interface StoredScheduleRun {
  /** Unique among all runs of schedules. */
  readonly id: string
  /** Id of the schedule. */
  readonly schedule: string
  /** Counts up; `before` of the next page. */
  readonly seq: number
  /** When it was to begin. */
  readonly dueAt: number
  /** When it began; absent before. */
  readonly startedAt?: number
  /** When it was over; absent before. */
  readonly endedAt?: number
  /** What became of it. */
  readonly status: ScheduleRunStatus
  /** Earlier times that it stands for. */
  readonly missed: number
  /** The hub's run that its calls belong to; absent before it began. */
  readonly runId?: string
  /** What its calls did, in one line. */
  readonly summary?: string
  /** Why it failed; absent when it did not. */
  readonly error?: string
  /** What it tells came from outside. */
  readonly untrusted: boolean
  /** The process that it belongs to. */
  readonly owner: string
  /** Until when it is the owner's, unless that renews it. */
  readonly leasedUntil: number
}
