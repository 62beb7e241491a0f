import { z } from 'zod'
import { MISSED_POLICIES, OVERLAP_POLICIES } from './types.ts'

const MAX_JITTER_MS = 3_600_000
const MAX_RUN_MS = 86_400_000
/** A hundred years: later than any schedule means, and far from what numbers of dates can hold. */
const MAX_INTERVAL_MS = 100 * 366 * 86_400_000

/** Names are in the ids of runs, in rules and in lists: short and plain. */
export const SCHEDULE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,59}$/

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

/** What is to be another one. */
export const scheduleChange = z.strictObject(fields).partial()

/** What somebody says about a new schedule. */
export const newSchedule = scheduleChange.extend({
  name: z.string().regex(SCHEDULE_NAME, 'letters, digits, . _ and -, beginning with a letter or digit, at most 60'),
  when: fields.when,
  calls: fields.calls,
})
