import type { Principal } from '../../core/principal.ts'

/** What becomes of times that passed while nothing ran: nothing, one run for all of them, or one for each. */
export const MISSED_POLICIES = ['skip', 'once', 'all'] as const
export type MissedPolicy = (typeof MISSED_POLICIES)[number]

/** What happens at a time at which the run before is not over: it is left out, it waits, or both go on. */
export const OVERLAP_POLICIES = ['skip', 'queue', 'parallel'] as const
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number]

/** What became of one time of a schedule; `waiting` and `running` are not over. */
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

/** When, as people write it: a cron expression, an interval (`15m`, or milliseconds), or one time (ISO 8601). */
export type WrittenWhen =
  | {
      /** Minute, hour, day of month, month, day of week: `0 9 * * 1-5`. */
      readonly cron: string
    }
  | {
      /** At this interval, with a unit: `15m`. */
      readonly every: string
    }
  | {
      /** At this interval, in milliseconds. */
      readonly everyMs: number
    }
  | {
      /** Once, at this time, ISO 8601; without an offset in `timeZone`. */
      readonly at: string
    }

/** When, as it is kept; `at` is in UTC. */
export type When = { readonly cron: string } | { readonly everyMs: number } | { readonly at: string }

/** What somebody says about a schedule. */
export interface NewSchedule {
  /** Unique among those of one principal; what policy decides on. */
  readonly name: string
  /** A cron expression, an interval or one time. */
  readonly when: WrittenWhen
  /** IANA name, for expressions and for times without an offset; that of the options, or of the machine, unless said. */
  readonly timeZone?: string
  /** Made in this order, 1 to 20. */
  readonly calls: readonly ScheduledCall[]
  /** Goes on after a call that failed; not unless said. */
  readonly continueOnError?: boolean
  /** `once` unless said. */
  readonly missed?: MissedPolicy
  /** `skip` unless said. */
  readonly overlap?: OverlapPolicy
  /** Each time is put off by a random part of this, so that not all begin at once; 0 unless said. */
  readonly jitterMs?: number
  /** `false` keeps it from running. Default: `true`. */
  readonly enabled?: boolean
  /** The last moment it may run at, ISO 8601. */
  readonly until?: string
  /** So often and no more. */
  readonly maxRuns?: number
  /** How long all calls of one run may take, also those that wait for a person; an hour unless said. */
  readonly timeoutMs?: number
}

/** What is to be another one; the rest stays. */
export type ScheduleChange = Partial<Omit<NewSchedule, 'name'>>

/** A schedule. Times are milliseconds since 1970. */
export interface Schedule {
  /** Unique among all schedules of the store. */
  readonly id: string
  /** Unique among those of one principal. */
  readonly name: string
  /** Whose it is; the hub's own owner's without. */
  readonly principal?: string
  /** A cron expression, an interval or one time. */
  readonly when: When
  /** IANA name such as `Europe/Berlin`. */
  readonly timeZone: string
  /** Made in this order, each only if the one before succeeded unless `continueOnError` is set. */
  readonly calls: readonly ScheduledCall[]
  /** Makes the other calls also after one that failed. */
  readonly continueOnError: boolean
  /** What becomes of times that passed while nothing ran. */
  readonly missed: MissedPolicy
  /** What happens at a time at which the run before is not over. */
  readonly overlap: OverlapPolicy
  /** Each time is put off by a random part of this. */
  readonly jitterMs: number
  /** How long all calls of one run may take. */
  readonly timeoutMs: number
  /** The last moment it may run at, ISO 8601; absent when there is none. */
  readonly until?: string
  /** How often it may run in all; absent when there is no limit. */
  readonly maxRuns?: number
  /** `false` when it does not run, because somebody switched it off or for `disabledBecause`. */
  readonly enabled: boolean
  /** Why it is not, when nobody switched it off. */
  readonly disabledBecause?: string
  /** Written in the config: it is changed there. */
  readonly isFromConfig: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Who made it, and in which call. */
  readonly createdBy: {
    /** Who made it, as the records name them. */
    readonly by: string
    /** The call that made it; absent for the owner's own. */
    readonly callId?: string
    /** Run of that call. */
    readonly run?: string
    /** Its maker had read content from outside, so its runs count as tainted. */
    readonly tainted: boolean
  }
  /** When it is due next; absent when it never is. */
  readonly nextAt?: number
  /** When it was due last; absent before its first time. */
  readonly lastAt?: number
  /** What became of its last time. */
  readonly lastStatus?: ScheduleRunStatus
  /** How often it has fired. */
  readonly runs: number
}

/** One time of a schedule, and what became of it. */
export interface ScheduleRun {
  /** Id of this time of the schedule; the records are under `runId`. */
  readonly id: string
  /** Id of the schedule. */
  readonly schedule: string
  /** Counts up; `before` of a page. */
  readonly seq: number
  /** When it was to begin. */
  readonly dueAt: number
  /** When it began; absent while it waits, and when it was left out. */
  readonly startedAt?: number
  /** When it was over; absent before. */
  readonly endedAt?: number
  /** What became of it; `waiting` and `running` are not over. */
  readonly status: ScheduleRunStatus
  /** The hub's run with the records, once it has begun. */
  readonly runId?: string
  /** Earlier times that this run stands for, or that were left out with it. */
  readonly missed: number
  /** What its calls did, in one line. */
  readonly summary?: string
  /** Why it failed; absent when it did not. */
  readonly error?: string
  /** What it tells came from outside. */
  readonly untrusted: boolean
}

/** How the schedules of a store do. */
export interface ScheduleStatus {
  /** Some process with this store fires them. */
  readonly isTicking: boolean
  /** This one does. */
  readonly isTickingHere: boolean
  /** All schedules that the asker may see. */
  readonly schedules: number
  /** Those of them that are enabled. */
  readonly enabled: number
  /** When the next one is due, in milliseconds since 1970; absent when none is. */
  readonly nextAt?: number
  /** Runs under way. */
  readonly running: number
  /** Runs that wait for an earlier one to end. */
  readonly waiting: number
  /** Schedules of the config that could not be used, and why. */
  readonly problems: readonly string[]
}

/** A page of what became of a schedule, newest first. */
export interface ScheduleRunPage {
  /** The runs, newest first. */
  readonly runs: readonly ScheduleRun[]
  /** `before` of the next page, where there is one. */
  readonly next?: number
}

/** What an owner says about schedules. */
export interface SchedulesOptions {
  /** Schedules of the owner's by name, known as `config:<name>`; those that are not here any more are removed. */
  readonly entries?: Readonly<Record<string, Omit<NewSchedule, 'name'>>>
  /** Of schedules that do not say; that of the machine unless said. */
  readonly timeZone?: string
  /** Most schedules of one principal; 100 unless said. */
  readonly most?: number
  /** Shortest time between two runs; 10 s unless said, never below 1 s. */
  readonly shortestMs?: number
  /** Runs of this process at the same time; 8 unless said. */
  readonly parallel?: number
  /** How many past runs of a schedule are remembered; 200 unless said. */
  readonly keep?: number
}

/** The handle of a tool that declares the capability: what its principal has, and no other's. */
export interface ScheduleHandle {
  /** How the principal's schedules do, and whether any process fires them. */
  status(): Promise<ScheduleStatus>
  /** All schedules of the principal. */
  list(): Promise<readonly Schedule[]>
  /** A schedule by its name; throws `NOT_FOUND` if there is none. */
  find(name: string): Promise<Schedule>
  /** Makes a schedule; throws `CONFLICT` if the name is taken, `INPUT_SCHEMA_INVALID` for a mistake in `when`. */
  add(schedule: NewSchedule): Promise<Schedule>
  /** Changes a schedule; what is absent stays. Throws `NOT_FOUND` if there is none. */
  update(name: string, change: ScheduleChange): Promise<Schedule>
  /** Removes a schedule and returns it as it was; throws `NOT_FOUND` if there is none. */
  remove(name: string): Promise<Schedule>
  /** Begins a run now, and waits a while for its end. */
  run(name: string): Promise<ScheduleRun>
  /** What became of its times, newest first. Default: 20 of them; at most 500. */
  runs(name: string, page?: { readonly limit?: number; readonly before?: number }): Promise<ScheduleRunPage>
  /** A text for the agent's own session, or the console, at a time or after some. */
  wake(wish: { readonly text?: string; readonly at?: string; readonly inMs?: number }): Promise<Schedule>
}

/** Who changes something, for the record. */
export interface ScheduleMaker {
  /** `owner` unless said. */
  readonly by?: string
  /** The principal whose schedule it is to be, and whose rights it has; the hub's own owner's unless said. */
  readonly as?: Principal
}

/** What the owner of a hub uses. Schedules go by id, or by name where only one has it. */
export interface ScheduleService {
  /**
   * Fires what is due from now on; nothing does before. First makes the schedules of the config those of the options, or
   * those given here: whoever has read a whole config gives an empty list where it says nothing.
   */
  start(config?: Pick<SchedulesOptions, 'entries'>): Promise<void>
  /** Begins nothing new; runs under way go on. */
  stop(): Promise<void>
  /** How the schedules of the store do, and whether any process fires them. */
  status(): Promise<ScheduleStatus>
  /** All schedules, or those of one principal. */
  list(filter?: { readonly principal?: string }): Promise<readonly Schedule[]>
  /** Throws `NOT_FOUND` if there is none, `CONFLICT` if several have the name. */
  find(schedule: string): Promise<Schedule>
  /** Makes a schedule; throws `CONFLICT` if the name is taken, `INPUT_SCHEMA_INVALID` for a mistake in `when`. */
  add(schedule: NewSchedule, maker?: ScheduleMaker): Promise<Schedule>
  /** FORBIDDEN when `as` is to change what somebody else's schedule calls. */
  update(schedule: string, change: ScheduleChange, maker?: ScheduleMaker): Promise<Schedule>
  /** Removes a schedule and returns it as it was; throws `NOT_FOUND` if there is none. */
  remove(schedule: string, maker?: Pick<ScheduleMaker, 'by'>): Promise<Schedule>
  /** A run right now, beside its times. Waits for its end unless told not to. */
  run(
    schedule: string,
    options?: Pick<ScheduleMaker, 'by'> & { readonly wait?: boolean; readonly signal?: AbortSignal },
  ): Promise<ScheduleRun>
  /** What became of its times, newest first. Default: 20 of them; at most 500. */
  runs(schedule: string, page?: { readonly limit?: number; readonly before?: number }): Promise<ScheduleRunPage>
  /** The next times of an expression, an interval or a date; INPUT_SCHEMA_INVALID says where the mistake is. */
  next(
    when: WrittenWhen,
    options?: { readonly timeZone?: string; readonly count?: number },
  ): Promise<{ readonly timeZone: string; readonly times: readonly number[] }>
  /** Hears of each run that begins or ends in this process. Returns how to stop. */
  onRun(listener: (run: ScheduleRun, schedule: Schedule) => void): Promise<() => void>
}
