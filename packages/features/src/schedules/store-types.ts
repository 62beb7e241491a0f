import type { Awaitable } from '@tool-hub/core'
import { column, defineTable, optional, type Row } from '@tool-hub/core/sql'
import type { OverlapPolicy, ScheduleRunStatus } from './types.ts'

/** Prefix of the names of schedules from the config file; other names cannot contain a colon. */
export const FROM_CONFIG = 'config:'

/** Schedules and their runs. Every change gives a schedule a new version, so that each time fires once. */
export interface ScheduleStore {
  /**
   * Adds a schedule; CONFLICT if its principal has one of that name. If the principal has `most` schedules, the oldest
   * one that is done and has no active runs is removed; BUDGET_EXCEEDED if there is none.
   */
  add(schedule: StoredSchedule, limit: { readonly most: number }): Awaitable<void>
  /** A schedule by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredSchedule | undefined>
  /** By name, then by principal. Default: all. */
  list(filter?: { principal?: string; name?: string; limit?: number }): Awaitable<readonly StoredSchedule[]>
  /** Replaces a schedule that still has this version; whether it had. */
  save(schedule: StoredSchedule): Awaitable<boolean>
  /** Removes a schedule and its runs; whether it existed. */
  remove(id: string): Awaitable<boolean>
  /** The schedules that are due, earliest first. */
  due(now: number, limit: number): Awaitable<readonly StoredSchedule[]>
  /** When the next schedule is due. */
  nextAt(): Awaitable<number | undefined>
  /**
   * Moves a schedule to its next time and adds its runs, as `skipped` if the overlap policy requires it. Returns
   * `undefined` if the schedule no longer has the version that was read: another process was first.
   */
  fire(firing: Firing): Awaitable<readonly StoredScheduleRun[] | undefined>
  /** Adds a run in addition to the scheduled ones. */
  addRun(run: NewScheduleRun, overlap: Overlap): Awaitable<StoredScheduleRun>
  /** Starts a waiting run; `wait` while an earlier run of the schedule is active, `gone` if it does not wait for this owner. */
  begin(begun: {
    /** Id of the run. */
    readonly id: string
    /** The process that starts it. */
    readonly owner: string
    /** The hub's run that its calls belong to. */
    readonly runId: string
    /** When it starts. */
    readonly startedAt: number
    /** Until when the owner holds it, unless it renews the lease. */
    readonly leasedUntil: number
    /** Whether no other run of the schedule may be active. */
    readonly isAlone: boolean
  }): Awaitable<'begun' | 'wait' | 'gone'>
  /** Ends a run and removes runs beyond the `keep` latest of its schedule. An earlier end stays, except `interrupted`. */
  end(end: {
    /** Id of the run. */
    readonly id: string
    /** Its owner; another one cannot end it. */
    readonly owner: string
    /** Its status. */
    readonly status: ScheduleRunStatus
    /** When it ended. */
    readonly endedAt: number
    /** Summary of its calls in one line. */
    readonly summary?: string
    /** Why it failed. */
    readonly error?: string
    /** Whether its summary contains untrusted content. */
    readonly untrusted?: boolean
    /** How many runs of the schedule are kept. */
    readonly keep: number
  }): Awaitable<boolean>
  /** Extends the leases of all active runs of an owner. */
  renew(owner: string, leasedUntil: number): Awaitable<void>
  /** Reassigns a waiting run whose owner has ended. */
  takeOver(id: string, from: string, to: { readonly owner: string; readonly leasedUntil: number }): Awaitable<boolean>
  /** Active runs, oldest first. */
  active(limit: number): Awaitable<readonly StoredScheduleRun[]>
  /** A run by its id; `undefined` if there is none. */
  findRun(id: string): Awaitable<StoredScheduleRun | undefined>
  /** Newest first. */
  runs(filter: { schedule: string; before?: number; limit: number }): Awaitable<readonly StoredScheduleRun[]>
}

/** A schedule in the store: the fields that are searched, and the rest in `body`. */
export type StoredSchedule = Row<typeof SCHEDULES>

/** The table of schedules. */
export const SCHEDULES = defineTable(
  'schedules',
  11,
  {
    /** Unique among all schedules. */
    id: column.text({ key: true }),
    /** Empty for the owner of the hub. */
    principal: column.text(),
    /** Unique among the schedules of a principal. */
    name: column.text(),
    /** JSON of its calls and permissions. */
    body: column.text(),
    /** `done` if it has no further time. */
    state: column.text<'on' | 'off' | 'done'>(),
    /** Why the hub disabled it; absent if a caller did. */
    reason: optional.text(),
    /** Its next time; absent if it has none. */
    dueAt: optional.bigint(),
    /** When it is due, including jitter. */
    nextAt: optional.bigint(),
    /** Changes with every write; `save` and `fire` need the one that was read. */
    version: column.bigint(),
    /** When it was created. */
    createdAt: column.bigint(),
    /** How often it has fired. */
    runs: column.bigint(),
    /** When it last fired; absent before the first time. */
    lastAt: optional.bigint(),
    /** The status of its last run. */
    lastStatus: optional.text<ScheduleRunStatus>(),
  },
  { unique: ['principal', 'name'], indexes: { next: ['nextAt'], name: ['name', 'principal'] } },
)

/** How runs of a schedule may overlap. */
export interface Overlap {
  /** What happens while an earlier run is active. */
  readonly policy: OverlapPolicy
  /** Maximum number of active runs; further ones are skipped, whatever the policy. */
  readonly maxActive: number
}

/** A schedule moves to its next time. */
export interface Firing extends Pick<StoredSchedule, 'id' | 'version' | 'state' | 'reason' | 'dueAt' | 'nextAt'> {
  /** The current time. */
  readonly at: number
  /** Runs to add. */
  readonly runs: readonly NewScheduleRun[]
  /** How they may overlap with other runs of the schedule. */
  readonly overlap: Overlap
}

/** A run to add: it waits, or is a time that is skipped. */
export interface NewScheduleRun
  extends Pick<StoredScheduleRun, 'id' | 'schedule' | 'dueAt' | 'missed' | 'owner' | 'leasedUntil'> {
  /** `missed` for a time that is skipped. */
  readonly status: 'waiting' | 'missed'
}

/** A run with its outcome. */
export type StoredScheduleRun = Omit<Row<typeof SCHEDULE_RUNS>, 'active'>

/** The table of runs. */
export const SCHEDULE_RUNS = defineTable(
  'schedule_runs',
  11,
  {
    /** Unique among all runs of schedules. */
    id: column.text({ key: true }),
    /** Id of the schedule. */
    schedule: column.text(),
    /** Grows with every run; `before` of the next page. */
    seq: column.bigint(),
    /** When it is to start. */
    dueAt: column.bigint(),
    /** When it started; absent before. */
    startedAt: optional.bigint(),
    /** When it ended; absent before. */
    endedAt: optional.bigint(),
    /** Its status. */
    status: column.text<ScheduleRunStatus>(),
    /** Whether it waits or is running. */
    active: column.flag(),
    /** How many earlier times it replaces. */
    missed: column.bigint(),
    /** The hub's run that its calls belong to; absent before it starts. */
    runId: optional.text(),
    /** Summary of its calls in one line. */
    summary: optional.text(),
    /** Why it failed; absent if it did not. */
    error: optional.text(),
    /** Whether its summary contains untrusted content. */
    untrusted: column.flag(),
    /** The process that starts it and owns it. */
    owner: column.text(),
    /** Until when the owner holds it, unless it renews the lease. */
    leasedUntil: column.bigint(),
  },
  { indexes: { seq: ['schedule', 'seq'], active: ['active', 'seq'] } },
)
