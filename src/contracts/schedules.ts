import type { Principal } from '../principal.ts'

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
  readonly tool: string
  readonly input?: unknown
}

/** When, as people write it: a cron expression, an interval (`15m`, or milliseconds), or one time (ISO 8601). */
export type WrittenWhen =
  | { readonly cron: string }
  | { readonly every: string }
  | { readonly everyMs: number }
  | { readonly at: string }

/** When, as it is kept; `at` is in UTC. */
export type When = { readonly cron: string } | { readonly everyMs: number } | { readonly at: string }

/** What somebody says about a schedule. */
export interface NewSchedule {
  /** Unique among those of one principal; what policy decides on. */
  readonly name: string
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
  readonly id: string
  readonly name: string
  /** Whose it is; the hub's own owner's without. */
  readonly principal?: string
  readonly when: When
  readonly timeZone: string
  readonly calls: readonly ScheduledCall[]
  readonly continueOnError: boolean
  readonly missed: MissedPolicy
  readonly overlap: OverlapPolicy
  readonly jitterMs: number
  readonly timeoutMs: number
  readonly until?: string
  readonly maxRuns?: number
  readonly enabled: boolean
  /** Why it is not, when nobody switched it off. */
  readonly disabledBecause?: string
  /** Written in the config: it is changed there. */
  readonly isFromConfig: boolean
  readonly createdAt: number
  readonly createdBy: {
    readonly by: string
    readonly callId?: string
    readonly run?: string
    /** Its maker had read content from outside, so its runs count as tainted. */
    readonly tainted: boolean
  }
  readonly nextAt?: number
  readonly lastAt?: number
  readonly lastStatus?: ScheduleRunStatus
  /** How often it has fired. */
  readonly runs: number
}

/** One time of a schedule, and what became of it. */
export interface ScheduleRun {
  readonly id: string
  /** Id of the schedule. */
  readonly schedule: string
  /** Counts up; `before` of a page. */
  readonly seq: number
  readonly dueAt: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly status: ScheduleRunStatus
  /** The hub's run with the records, once it has begun. */
  readonly runId?: string
  /** Earlier times that this run stands for, or that were left out with it. */
  readonly missed: number
  readonly summary?: string
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
  readonly schedules: number
  readonly enabled: number
  readonly nextAt?: number
  readonly running: number
  readonly waiting: number
  /** Schedules of the config that could not be used, and why. */
  readonly problems: readonly string[]
}

/** A page of what became of a schedule, newest first. */
export interface ScheduleRunPage {
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
  status(): Promise<ScheduleStatus>
  list(): Promise<readonly Schedule[]>
  find(name: string): Promise<Schedule>
  add(schedule: NewSchedule): Promise<Schedule>
  update(name: string, change: ScheduleChange): Promise<Schedule>
  remove(name: string): Promise<Schedule>
  /** Begins a run now, and waits a while for its end. */
  run(name: string): Promise<ScheduleRun>
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
export interface ScheduleDesk {
  /**
   * Fires what is due from now on; nothing does before. First makes the schedules of the config those of the options, or
   * those given here: whoever has read a whole config gives an empty list where it says nothing.
   */
  start(config?: Pick<SchedulesOptions, 'entries'>): Promise<void>
  /** Begins nothing new; runs under way go on. */
  stop(): Promise<void>
  status(): Promise<ScheduleStatus>
  list(filter?: { readonly principal?: string }): Promise<readonly Schedule[]>
  find(schedule: string): Promise<Schedule>
  add(schedule: NewSchedule, maker?: ScheduleMaker): Promise<Schedule>
  /** FORBIDDEN when `as` is to change what somebody else's schedule calls. */
  update(schedule: string, change: ScheduleChange, maker?: ScheduleMaker): Promise<Schedule>
  remove(schedule: string, maker?: Pick<ScheduleMaker, 'by'>): Promise<Schedule>
  /** A run right now, beside its times. Waits for its end unless told not to. */
  run(
    schedule: string,
    options?: Pick<ScheduleMaker, 'by'> & { readonly wait?: boolean; readonly signal?: AbortSignal },
  ): Promise<ScheduleRun>
  runs(schedule: string, page?: { readonly limit?: number; readonly before?: number }): Promise<ScheduleRunPage>
  /** The next times of an expression, an interval or a date; INPUT_SCHEMA_INVALID says where the mistake is. */
  next(
    when: WrittenWhen,
    options?: { readonly timeZone?: string; readonly count?: number },
  ): Promise<{ readonly timeZone: string; readonly times: readonly number[] }>
  /** Hears of each run that begins or ends in this process. Returns how to stop. */
  onRun(listener: (run: ScheduleRun, schedule: Schedule) => void): Promise<() => void>
}
