import { z } from 'zod'
import { pageQuery } from '../../protocol/index.ts'
import type { newSchedule, scheduleChange } from './schedule-schema.ts'
import { MISSED_POLICIES, OVERLAP_POLICIES, SCHEDULE_RUN_STATUSES } from './types.ts'

const runStatus = z.enum(SCHEDULE_RUN_STATUSES)

/** A schedule; times are milliseconds since 1970. */
export const scheduleEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** Whose it is; the owner's without. */
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
  /** Written in the config: it is changed there. */
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

/** How the schedules do. */
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

/** By name. */
export const scheduleList = z.object({ schedules: z.array(scheduleEntry), status: scheduleStatus })

/** Bodies of `POST /v1/schedules` and `PUT /v1/schedules/{id}`. */
export type NewScheduleBody = z.input<typeof newSchedule>
export type ScheduleChangeBody = z.input<typeof scheduleChange>

/** One time of a schedule, and what became of it. */
export const scheduleRunEntry = z.object({
  id: z.string(),
  schedule: z.string(),
  seq: z.number(),
  dueAt: z.number(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  status: runStatus,
  /** The run with the records. */
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
