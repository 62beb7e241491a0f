import { givenName, pageQuery } from '@tool-hub/core/protocol'
import { z } from 'zod'
import { MISSED_POLICIES, OVERLAP_POLICIES, SCHEDULE_RUN_STATUSES } from './types.ts'

const MAX_JITTER_MS = 3_600_000
const MAX_RUN_MS = 86_400_000
/** A hundred years: longer than any real interval, and far below the largest date. */
const MAX_INTERVAL_MS = 100 * 366 * 86_400_000

/** Names appear in rules and lists, so they are short and plain. */
export const scheduleName = givenName(60)

const time = z.iso.datetime({ local: true, offset: true })

/** When a schedule runs, as users write it: a cron expression, an interval or one time. */
export const writtenWhen = z.union(
  [
    z.strictObject({
      /** Minute, hour, day of month, month, day of week: `0 9 * * 1-5`. */
      cron: z.string().min(1).max(200),
    }),
    z.strictObject({
      /** An interval with a unit: `15m`. */
      every: z.string().min(1).max(30),
    }),
    z.strictObject({
      /** An interval in milliseconds. */
      everyMs: z.int().min(1).max(MAX_INTERVAL_MS),
    }),
    z.strictObject({
      /** One time, ISO 8601; in `timeZone` if it has no offset. */
      at: time,
    }),
  ],
  { error: 'give one of cron ("0 9 * * 1-5"), every ("15m"), everyMs, or at ("2027-01-31T09:00")' },
)

/** When a schedule runs, as it is stored; `at` is in UTC. */
export const storedWhen = z.union([
  z.object({ cron: z.string() }),
  z.object({ everyMs: z.number() }),
  z.object({ at: z.string() }),
])

/** One of the calls that a schedule makes. */
export const scheduledCall = z.strictObject({
  /** Canonical, wire or dialect name of the tool. */
  tool: z.string().min(1).max(128),
  /** Its arguments. Default: `{}`. */
  input: z.unknown().optional(),
})

const fields = {
  /** A cron expression, an interval or one time. */
  when: writtenWhen,
  /** IANA name, for expressions and for times without an offset. Default: that of the options, else that of the machine. */
  timeZone: z.string().min(1).max(64),
  /** 1 to 20 calls, made in this order. */
  calls: z.array(scheduledCall).min(1).max(20),
  /** Whether to make the remaining calls after one that failed. Default: `false`. */
  continueOnError: z.boolean(),
  /** Default: `once`. */
  missed: z.enum(MISSED_POLICIES),
  /** Default: `skip`. */
  overlap: z.enum(OVERLAP_POLICIES),
  /** Maximum random delay of each run, so that schedules do not all start at the same moment. Default: 0. */
  jitterMs: z.int().min(0).max(MAX_JITTER_MS),
  /** Whether it runs. Default: `true`. */
  enabled: z.boolean(),
  /** It does not run after this time, ISO 8601. */
  until: time,
  /** Maximum number of runs. */
  maxRuns: z.int().min(1).max(1_000_000_000),
  /** Time limit of one run, including the time that calls wait for approval. Default: 1 h. */
  timeoutMs: z.int().min(1_000).max(MAX_RUN_MS),
}

/** The fields of a schedule to change; absent ones keep their value. Body of `PUT /v1/schedules/{id}`. */
export const scheduleChange = z.strictObject(fields).partial()

/** A schedule to add. Body of `POST /v1/schedules`. */
export const newSchedule = scheduleChange.extend({
  /** Unique among the schedules of a principal; the target that rules match. */
  name: scheduleName,
  /** A cron expression, an interval or one time. */
  when: fields.when,
  /** 1 to 20 calls, made in this order. */
  calls: fields.calls,
})

const runStatus = z.enum(SCHEDULE_RUN_STATUSES)

/** A schedule. Times are milliseconds since 1970. */
export const scheduleEntry = z.object({
  /** Unique among all schedules of the store. */
  id: z.string(),
  /** Unique among the schedules of a principal. */
  name: z.string(),
  /** The principal that it belongs to; absent for the owner of the hub. */
  principal: z.string().optional(),
  /** A cron expression, an interval or one time. */
  when: storedWhen,
  /** IANA name such as `Europe/Berlin`. */
  timeZone: z.string(),
  /** Made in this order; a call that fails ends the run unless `continueOnError` is set. */
  calls: z.array(
    // Not `scheduledCall`: an answer is not checked for the limits of a request.
    z.object({
      /** Canonical, wire or dialect name of the tool. */
      tool: z.string(),
      /** Its arguments. */
      input: z.unknown().optional(),
    }),
  ),
  /** Whether to make the remaining calls after one that failed. */
  continueOnError: z.boolean(),
  /** What to do about times that passed while no process ran schedules. */
  missed: z.enum(MISSED_POLICIES),
  /** What to do when it is due while its previous run is active. */
  overlap: z.enum(OVERLAP_POLICIES),
  /** Maximum random delay of each run. */
  jitterMs: z.number(),
  /** Time limit of one run. */
  timeoutMs: z.number(),
  /** It does not run after this time, ISO 8601; absent if it never ends. */
  until: z.string().optional(),
  /** Maximum number of runs; absent if unlimited. */
  maxRuns: z.number().optional(),
  /** `false` if a caller disabled it, or the hub did for the reason in `disabledBecause`. */
  enabled: z.boolean(),
  /** Why the hub disabled it; absent if a caller did. */
  disabledBecause: z.string().optional(),
  /** Whether it comes from the config file, the only place where it can be changed. */
  isFromConfig: z.boolean(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Who created it, and in which call. */
  createdBy: z.object({
    /** The creator's name in the records. */
    by: z.string(),
    /** The call that created it; absent if the owner did. */
    callId: z.string().optional(),
    /** The run of that call. */
    run: z.string().optional(),
    /** Whether the creator had read untrusted content; its runs are tainted then. */
    tainted: z.boolean(),
  }),
  /** When it is due next; absent if it has no further time. */
  nextAt: z.number().optional(),
  /** When it last fired; absent before the first time. */
  lastAt: z.number().optional(),
  /** The status of its last run. */
  lastStatus: runStatus.optional(),
  /** How often it has fired. */
  runs: z.number(),
})

/** Counts of schedules and runs, and whether any process runs them. */
export const scheduleStatus = z.object({
  /** Whether any process on this store runs schedules. */
  isTicking: z.boolean(),
  /** Whether this process does. */
  isTickingHere: z.boolean(),
  /** Schedules that the caller may see. */
  schedules: z.number(),
  /** Those of them that are enabled. */
  enabled: z.number(),
  /** When the next one is due, in milliseconds since 1970; absent if none is. */
  nextAt: z.number().optional(),
  /** Active runs. */
  running: z.number(),
  /** Runs that wait for an earlier one to end. */
  waiting: z.number(),
  /** Why schedules of the config could not be used, one line each. */
  problems: z.array(z.string()),
})

/** `GET /v1/schedules`: sorted by name. */
export const scheduleList = z.object({ schedules: z.array(scheduleEntry), status: scheduleStatus })

/** A run of a schedule: one of its times, and the outcome. */
export const scheduleRunEntry = z.object({
  /** Unique among all runs of schedules; the records of its calls are under `runId`. */
  id: z.string(),
  /** Id of the schedule. */
  schedule: z.string(),
  /** Grows with every run; `before` of a page. */
  seq: z.number(),
  /** When it was due. */
  dueAt: z.number(),
  /** When it started; absent while it waits, and if it was skipped or missed. */
  startedAt: z.number().optional(),
  /** When it ended; absent before. */
  endedAt: z.number().optional(),
  /** Its status; `waiting` and `running` are not final. */
  status: runStatus,
  /** The hub's run that its calls belong to; absent before it starts. */
  runId: z.string().optional(),
  /** How many earlier times it replaces, or were missed with it. */
  missed: z.number(),
  /** Summary of its calls in one line. */
  summary: z.string().optional(),
  /** Why it failed; absent if it did not. */
  error: z.string().optional(),
  /** Whether its summary contains untrusted content. */
  untrusted: z.boolean(),
})

/** A page of the runs of a schedule. */
export const scheduleRunList = z.object({
  /** The runs, newest first. */
  runs: z.array(scheduleRunEntry),
  /** `before` of the next page; absent on the last one. */
  next: z.number().optional(),
})
export const scheduleRunQuery = pageQuery

/** Query of `GET /v1/schedule-times`: one of cron, every, at. */
export const scheduleTimesQuery = z.object({
  /** A cron expression. */
  cron: z.string().max(200).optional(),
  /** An interval, such as `15m`. */
  every: z.string().max(30).optional(),
  /** A date and time. */
  at: z.string().max(40).optional(),
  /** The time zone, such as `Europe/Berlin`. Default: that of the config or the machine. */
  timeZone: z.string().max(64).optional(),
  count: z.coerce.number().int().min(1).max(100).default(5),
})
export const scheduleTimes = z.object({ timeZone: z.string(), times: z.array(z.number()) })
