import type { Principal } from '../../core/index.ts'

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
export interface ScheduledCall {
  /** Canonical, wire or dialect name of the tool. */
  readonly tool: string
  /** Its arguments. Default: `{}`. */
  readonly input?: unknown
}

/** When a schedule runs, as users write it: a cron expression, an interval (`15m`, or milliseconds), or one time (ISO 8601). */
export type WrittenWhen =
  | {
      /** Minute, hour, day of month, month, day of week: `0 9 * * 1-5`. */
      readonly cron: string
    }
  | {
      /** An interval with a unit: `15m`. */
      readonly every: string
    }
  | {
      /** An interval in milliseconds. */
      readonly everyMs: number
    }
  | {
      /** One time, ISO 8601; in `timeZone` if it has no offset. */
      readonly at: string
    }

/** When a schedule runs, as it is stored; `at` is in UTC. */
export type When = { readonly cron: string } | { readonly everyMs: number } | { readonly at: string }

/** A schedule to add. */
export interface NewSchedule {
  /** Unique among the schedules of a principal; the target that rules match. */
  readonly name: string
  /** A cron expression, an interval or one time. */
  readonly when: WrittenWhen
  /** IANA name, for expressions and for times without an offset. Default: that of the options, else that of the machine. */
  readonly timeZone?: string
  /** 1 to 20 calls, made in this order. */
  readonly calls: readonly ScheduledCall[]
  /** Whether to make the remaining calls after one that failed. Default: `false`. */
  readonly continueOnError?: boolean
  /** Default: `once`. */
  readonly missed?: MissedPolicy
  /** Default: `skip`. */
  readonly overlap?: OverlapPolicy
  /** Maximum random delay of each run, so that schedules do not all start at the same moment. Default: 0. */
  readonly jitterMs?: number
  /** Whether it runs. Default: `true`. */
  readonly enabled?: boolean
  /** It does not run after this time, ISO 8601. */
  readonly until?: string
  /** Maximum number of runs. */
  readonly maxRuns?: number
  /** Time limit of one run, including the time that calls wait for approval. Default: 1 h. */
  readonly timeoutMs?: number
}

/** The fields of a schedule to change; absent ones keep their value. */
export type ScheduleChange = Partial<Omit<NewSchedule, 'name'>>

/** A schedule. Times are milliseconds since 1970. */
export interface Schedule {
  /** Unique among all schedules of the store. */
  readonly id: string
  /** Unique among the schedules of a principal. */
  readonly name: string
  /** The principal that it belongs to; absent for the owner of the hub. */
  readonly principal?: string
  /** A cron expression, an interval or one time. */
  readonly when: When
  /** IANA name such as `Europe/Berlin`. */
  readonly timeZone: string
  /** Made in this order; a call that fails ends the run unless `continueOnError` is set. */
  readonly calls: readonly ScheduledCall[]
  /** Whether to make the remaining calls after one that failed. */
  readonly continueOnError: boolean
  /** What to do about times that passed while no process ran schedules. */
  readonly missed: MissedPolicy
  /** What to do when it is due while its previous run is active. */
  readonly overlap: OverlapPolicy
  /** Maximum random delay of each run. */
  readonly jitterMs: number
  /** Time limit of one run. */
  readonly timeoutMs: number
  /** It does not run after this time, ISO 8601; absent if there is no end. */
  readonly until?: string
  /** Maximum number of runs; absent if there is no limit. */
  readonly maxRuns?: number
  /** `false` if a caller disabled it, or the hub did for the reason in `disabledBecause`. */
  readonly enabled: boolean
  /** Why the hub disabled it; absent if a caller did. */
  readonly disabledBecause?: string
  /** Whether it comes from the config file, the only place where it can be changed. */
  readonly isFromConfig: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Who created it, and in which call. */
  readonly createdBy: {
    /** The creator's name in the records. */
    readonly by: string
    /** The call that created it; absent if the owner did. */
    readonly callId?: string
    /** The run of that call. */
    readonly run?: string
    /** Whether the creator had read untrusted content; its runs are tainted then. */
    readonly tainted: boolean
  }
  /** When it is due next; absent if it has no further time. */
  readonly nextAt?: number
  /** When it last fired; absent before the first time. */
  readonly lastAt?: number
  /** The status of its last run. */
  readonly lastStatus?: ScheduleRunStatus
  /** How often it has fired. */
  readonly runs: number
}

/** A run of a schedule: one of its times, and the outcome. */
export interface ScheduleRun {
  /** Unique among all runs of schedules; the records of its calls are under `runId`. */
  readonly id: string
  /** Id of the schedule. */
  readonly schedule: string
  /** Grows with every run; `before` of a page. */
  readonly seq: number
  /** When it was due. */
  readonly dueAt: number
  /** When it started; absent while it waits, and if it was skipped or missed. */
  readonly startedAt?: number
  /** When it ended; absent before. */
  readonly endedAt?: number
  /** Its status; `waiting` and `running` are not final. */
  readonly status: ScheduleRunStatus
  /** The hub's run that its calls belong to; absent before it starts. */
  readonly runId?: string
  /** How many earlier times it replaces, or were missed with it. */
  readonly missed: number
  /** Summary of its calls in one line. */
  readonly summary?: string
  /** Why it failed; absent if it did not. */
  readonly error?: string
  /** Whether its summary contains untrusted content. */
  readonly untrusted: boolean
}

/** Counts of schedules and runs, and whether any process runs them. */
export interface ScheduleStatus {
  /** Whether any process on this store runs schedules. */
  readonly isTicking: boolean
  /** Whether this process does. */
  readonly isTickingHere: boolean
  /** Schedules that the caller may see. */
  readonly schedules: number
  /** Those of them that are enabled. */
  readonly enabled: number
  /** When the next one is due, in milliseconds since 1970; absent if none is. */
  readonly nextAt?: number
  /** Active runs. */
  readonly running: number
  /** Runs that wait for an earlier one to end. */
  readonly waiting: number
  /** Why schedules of the config could not be used, one line each. */
  readonly problems: readonly string[]
}

/** A page of the runs of a schedule. */
export interface ScheduleRunPage {
  /** The runs, newest first. */
  readonly runs: readonly ScheduleRun[]
  /** `before` of the next page; absent on the last one. */
  readonly next?: number
}

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
