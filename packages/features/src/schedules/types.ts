import type { Principal } from '@tool-hub/core'
import type { Immutable } from '@tool-hub/core/lib'
import type { z } from 'zod'
import type {
  newSchedule,
  scheduleChange,
  scheduledCall,
  scheduleEntry,
  scheduleRunEntry,
  scheduleRunList,
  scheduleStatus,
  storedWhen,
  writtenWhen,
} from './schema.ts'

/** What to do about times that passed while no process ran schedules: nothing, one run for all of them, or one for each. */
export const MISSED_POLICIES = ['skip', 'once', 'all'] as const
export type MissedPolicy = (typeof MISSED_POLICIES)[number]

/** What to do when a schedule is due while its previous run is active: skip this time, queue it, or run both. */
export const OVERLAP_POLICIES = ['skip', 'queue', 'parallel'] as const
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number]

/** The status of a run of a schedule; `waiting` and `running` are not final. */
export const SCHEDULE_RUN_STATUSES = [
  'waiting',
  'running',
  'ok',
  'error',
  'denied',
  'approval_required',
  'aborted',
  'timeout',
  'skipped',
  'missed',
  'interrupted',
] as const
export type ScheduleRunStatus = (typeof SCHEDULE_RUN_STATUSES)[number]

/** One of the calls that a schedule makes. */
export type ScheduledCall = Immutable<z.infer<typeof scheduledCall>>

/** When a schedule runs, as users write it: a cron expression, an interval (`15m`, or milliseconds), or one time (ISO 8601). */
export type WrittenWhen = Immutable<z.infer<typeof writtenWhen>>

/** When a schedule runs, as it is stored; `at` is in UTC. */
export type When = Immutable<z.infer<typeof storedWhen>>

/** A schedule to add. */
export type NewSchedule = Immutable<z.infer<typeof newSchedule>>

/** The fields of a schedule to change; absent ones keep their value. */
export type ScheduleChange = Immutable<z.infer<typeof scheduleChange>>

/** A schedule. Times are milliseconds since 1970. */
export type Schedule = Immutable<z.infer<typeof scheduleEntry>>

/** A run of a schedule: one of its times, and the outcome. */
export type ScheduleRun = Immutable<z.infer<typeof scheduleRunEntry>>

/** Counts of schedules and runs, and whether any process runs them. */
export type ScheduleStatus = Immutable<z.infer<typeof scheduleStatus>>

/** A page of the runs of a schedule. */
export type ScheduleRunPage = Immutable<z.infer<typeof scheduleRunList>>

/** Options of schedules. */
export interface SchedulesOptions {
  /** The owner's schedules by name, stored as `config:<name>`; stored ones that are not listed here are removed. */
  readonly entries?: Readonly<Record<string, Omit<NewSchedule, 'name'>>>
  /** Time zone of schedules that name none. Default: that of the machine. */
  readonly timeZone?: string
  /** Maximum number of schedules of a principal. Default: 100. */
  readonly most?: number
  /** Minimum time between two runs of a schedule, 1 s or more. Default: 10 s. */
  readonly shortestMs?: number
  /** Maximum number of concurrent runs in this process. Default: 8. */
  readonly parallel?: number
  /** How many past runs of each schedule are kept. Default: 200. */
  readonly keep?: number
}

/** The handle of a tool that declares the capability; it reaches the schedules of the call's own principal. */
export interface ScheduleHandle {
  /** Counts of the principal's schedules, and whether any process runs them. */
  status(): Promise<ScheduleStatus>
  /** All schedules of the principal. */
  list(): Promise<readonly Schedule[]>
  /** A schedule by its name; throws `NOT_FOUND` if there is none. */
  find(name: string): Promise<Schedule>
  /** Adds a schedule. Throws `CONFLICT` if the name is taken, `INPUT_SCHEMA_INVALID` if `when` is invalid. */
  add(schedule: NewSchedule): Promise<Schedule>
  /** Changes the given fields of a schedule. Throws `NOT_FOUND` if there is none. */
  update(name: string, change: ScheduleChange): Promise<Schedule>
  /** Removes a schedule and returns it as it was; throws `NOT_FOUND` if there is none. */
  remove(name: string): Promise<Schedule>
  /** Starts a run now and waits up to 50 s for its end. */
  run(name: string): Promise<ScheduleRun>
  /** A page of its runs, newest first. Default: 20 runs; at most 500. */
  runs(name: string, page?: { readonly limit?: number; readonly before?: number }): Promise<ScheduleRunPage>
  /** Sends a reminder to the console, at a time or after a delay. */
  wake(wish: { readonly text?: string; readonly at?: string; readonly inMs?: number }): Promise<Schedule>
}

/** Who makes a change. */
export interface ScheduleMaker {
  /** Name in the records. Default: `owner`. */
  readonly by?: string
  /** The principal that gets the schedule, and whose rights it has. Default: the owner of the hub. */
  readonly as?: Principal
}

/** What the owner of a hub uses. A schedule is named by its id, or by its name if only one has it. */
export interface ScheduleService {
  /**
   * Starts running schedules in this process. First replaces the stored schedules of the config with the entries of the
   * options, or with those given here; pass an empty record for a config that has none.
   */
  start(config?: Pick<SchedulesOptions, 'entries'>): Promise<void>
  /** Starts no further runs; active ones continue. */
  stop(): Promise<void>
  /** Counts of all schedules, and whether any process runs them. */
  status(): Promise<ScheduleStatus>
  /** All schedules, or those of one principal. */
  list(filter?: { readonly principal?: string }): Promise<readonly Schedule[]>
  /** Throws `NOT_FOUND` if there is none, `CONFLICT` if several have the name. */
  find(schedule: string): Promise<Schedule>
  /** Adds a schedule. Throws `CONFLICT` if the name is taken, `INPUT_SCHEMA_INVALID` if `when` is invalid. */
  add(schedule: NewSchedule, maker?: ScheduleMaker): Promise<Schedule>
  /** Changes the given fields. Throws `FORBIDDEN` if `as` does not own the schedule and would change its calls. */
  update(schedule: string, change: ScheduleChange, maker?: ScheduleMaker): Promise<Schedule>
  /** Removes a schedule and returns it as it was; throws `NOT_FOUND` if there is none. */
  remove(schedule: string, maker?: Pick<ScheduleMaker, 'by'>): Promise<Schedule>
  /** Starts a run now, in addition to the scheduled ones. Waits for its end unless `wait` is `false`. */
  run(
    schedule: string,
    options?: Pick<ScheduleMaker, 'by'> & { readonly wait?: boolean; readonly signal?: AbortSignal },
  ): Promise<ScheduleRun>
  /** A page of its runs, newest first. Default: 20 runs; at most 500. */
  runs(schedule: string, page?: { readonly limit?: number; readonly before?: number }): Promise<ScheduleRunPage>
  /** The next times of an expression, an interval or a date. Throws `INPUT_SCHEMA_INVALID` with the invalid field. */
  next(
    when: WrittenWhen,
    options?: { readonly timeZone?: string; readonly count?: number },
  ): Promise<{ readonly timeZone: string; readonly times: readonly number[] }>
  /** Calls the listener for each run that starts or ends in this process. Returns a function that removes it. */
  onRun(listener: (run: ScheduleRun, schedule: Schedule) => void): Promise<() => void>
}
