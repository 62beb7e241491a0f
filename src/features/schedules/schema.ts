import { z } from 'zod'
import { pageQuery } from '../../protocol/index.ts'
import { MISSED_POLICIES, OVERLAP_POLICIES, SCHEDULE_RUN_STATUSES } from './types.ts'

const MAX_JITTER_MS = 3_600_000
const MAX_RUN_MS = 86_400_000
/** A hundred years: longer than any real interval, and far below the largest date. */
const MAX_INTERVAL_MS = 100 * 366 * 86_400_000

/** Names appear in run ids, rules and lists, so they are short and plain. */
const SCHEDULE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,59}$/

const time = z.iso.datetime({ local: true, offset: true })

/** A cron expression, an interval or one time. */
export const writtenWhen = z.union(
  [
    z.strictObject({ cron: z.string().min(1).max(200) }),
    z.strictObject({ every: z.string().min(1).max(30) }),
    z.strictObject({ everyMs: z.int().min(1).max(MAX_INTERVAL_MS) }),
    z.strictObject({ at: time }),
  ],
  { error: 'give one of cron ("0 9 * * 1-5"), every ("15m"), everyMs, or at ("2027-01-31T09:00")' },
)

const scheduledCall = z.strictObject({ tool: z.string().min(1).max(128), input: z.unknown().optional() })

const fields = {
  when: writtenWhen,
  timeZone: z.string().min(1).max(64),
  calls: z.array(scheduledCall).min(1).max(20),
  continueOnError: z.boolean(),
  missed: z.enum(MISSED_POLICIES),
  overlap: z.enum(OVERLAP_POLICIES),
  jitterMs: z.int().min(0).max(MAX_JITTER_MS),
  enabled: z.boolean(),
  until: time,
  maxRuns: z.int().min(1).max(1_000_000_000),
  timeoutMs: z.int().min(1_000).max(MAX_RUN_MS),
}

/** The fields of a schedule to change. */
export const scheduleChange = z.strictObject(fields).partial()

/** A schedule to add. */
export const newSchedule = scheduleChange.extend({
  name: z.string().regex(SCHEDULE_NAME, 'letters, digits, . _ and -, beginning with a letter or digit, at most 60'),
  when: fields.when,
  calls: fields.calls,
})

const runStatus = z.enum(SCHEDULE_RUN_STATUSES)

/** A schedule; times are milliseconds since 1970. */
export const scheduleEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** The principal that it belongs to; absent for the owner. */
  principal: z.string().optional(),
  when: z.union([z.object({ cron: z.string() }), z.object({ everyMs: z.number() }), z.object({ at: z.string() })]),
  timeZone: z.string(),
  calls: z.array(z.object({ tool: z.string(), input: z.unknown().optional() })),
  continueOnError: z.boolean(),
  missed: z.enum(MISSED_POLICIES),
  overlap: z.enum(OVERLAP_POLICIES),
  jitterMs: z.number(),
  timeoutMs: z.number(),
  until: z.string().optional(),
  maxRuns: z.number().optional(),
  enabled: z.boolean(),
  disabledBecause: z.string().optional(),
  /** Whether it comes from the config file, the only place where it can be changed. */
  isFromConfig: z.boolean(),
  createdAt: z.number(),
  createdBy: z.object({
    by: z.string(),
    callId: z.string().optional(),
    run: z.string().optional(),
    tainted: z.boolean(),
  }),
  nextAt: z.number().optional(),
  lastAt: z.number().optional(),
  lastStatus: runStatus.optional(),
  runs: z.number(),
})
export type ScheduleEntry = z.infer<typeof scheduleEntry>

/** Counts of schedules and runs, and whether any process runs them. */
export const scheduleStatus = z.object({
  isTicking: z.boolean(),
  isTickingHere: z.boolean(),
  schedules: z.number(),
  enabled: z.number(),
  nextAt: z.number().optional(),
  running: z.number(),
  waiting: z.number(),
  problems: z.array(z.string()),
})

/** `GET /v1/schedules`: sorted by name. */
export const scheduleList = z.object({ schedules: z.array(scheduleEntry), status: scheduleStatus })

/** Bodies of `POST /v1/schedules` and `PUT /v1/schedules/{id}`. */
export type NewScheduleBody = z.input<typeof newSchedule>
export type ScheduleChangeBody = z.input<typeof scheduleChange>

/** A run of a schedule: one of its times, and the outcome. */
export const scheduleRunEntry = z.object({
  id: z.string(),
  schedule: z.string(),
  seq: z.number(),
  dueAt: z.number(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  status: runStatus,
  /** The hub's run that its calls belong to. */
  runId: z.string().optional(),
  missed: z.number(),
  summary: z.string().optional(),
  error: z.string().optional(),
  untrusted: z.boolean(),
})
export type ScheduleRunEntry = z.infer<typeof scheduleRunEntry>

/** Newest first; `next` is the `before` of the next page. */
export const scheduleRunList = z.object({ runs: z.array(scheduleRunEntry), next: z.number().optional() })
export const scheduleRunQuery = pageQuery

/** Query of `GET /v1/schedule-times`: one of cron, every, at. */
export const scheduleTimesQuery = z.object({
  cron: z.string().max(200).optional(),
  every: z.string().max(30).optional(),
  at: z.string().max(40).optional(),
  timeZone: z.string().max(64).optional(),
  count: z.coerce.number().int().min(1).max(100).default(5),
})
export const scheduleTimes = z.object({ timeZone: z.string(), times: z.array(z.number()) })
