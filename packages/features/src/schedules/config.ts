import { defineConfig } from '@tool-hub/core'
import { duration, key, parseDuration, text, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'
import { scheduleName } from './schema.ts'
import {
  MISSED_POLICIES,
  type NewSchedule,
  OVERLAP_POLICIES,
  type SchedulesOptions,
  type WrittenWhen,
} from './types.ts'

const call = z.strictObject({
  tool: text.describe('Name of the tool.'),
  input: key(z.record(z.string(), z.unknown()), 'Its arguments.', {}),
})

const time = z.iso.datetime({ local: true, offset: true })

const entry = z
  .strictObject({
    cron: key(text, 'When it runs: minute, hour, day of month, month, day of week, such as "0 9 * * 1-5".'),
    every: key(duration, 'When it runs: at this interval.'),
    at: key(time, 'When it runs: once, at this time.'),
    timeZone: key(text, 'Time zone of cron, at and until. Default: schedules.timeZone.'),
    calls: z.array(call).min(1).max(20).describe('The calls to make, in this order.'),
    continueOnError: key(z.boolean(), 'Make the remaining calls after one that failed.', false),
    missed: key(
      z.enum(MISSED_POLICIES),
      'What to do about times that passed while nothing ran schedules: nothing, one run for all, one for each.',
      'once',
    ),
    overlap: key(
      z.enum(OVERLAP_POLICIES),
      'What to do while the previous run is active: skip this time, queue it, or run in parallel.',
      'skip',
    ),
    jitter: key(duration, 'Maximum random delay of each run.'),
    enabled: key(z.boolean(), 'false disables it.', true),
    until: key(time, 'It does not run after this time.'),
    maxRuns: key(z.int().min(1), 'Maximum number of runs.'),
    timeout: key(duration, 'Time limit of one run.', '1h'),
  })
  .superRefine(({ cron, every, at }, ctx) => {
    const given = [cron, every, at].filter((when) => when !== undefined).length
    if (given !== 1) ctx.addIssue(`needs one of cron, every and at; ${given === 0 ? 'none' : given} are given.`)
  })

const shortest = duration.superRefine((value, ctx) => {
  if (parseDuration(value) < 1_000) ctx.addIssue('is at least 1s.')
})

const section = z.strictObject({
  entries: key(
    z.record(scheduleName, entry),
    'Your own schedules by name, listed as config:NAME. They run while tool-hub serve or tool-hub cron start runs.',
  ),
  timeZone: key(text, 'Time zone of schedules that name none, such as Europe/Berlin. Default: that of the machine.'),
  most: key(z.int().min(0).max(10_000), 'Maximum number of schedules of a principal.', 100),
  shortest: key(shortest, 'Minimum time between two runs of a schedule, 1s or more.', '10s'),
  parallel: key(z.int().min(1).max(256), 'Maximum number of concurrent runs in one process.', 8),
  keep: key(z.int().min(1).max(10_000), 'How many past runs of each schedule are kept.', 200),
})

/** The section `schedules` of the config file. */
export const schedulesConfig = defineConfig({
  description: 'Scheduled calls; docs/reference/schedules.md.',
  schema: section,
  toOptions: toSchedules,
})

type WrittenEntry = NonNullable<z.output<typeof section>['entries']>[string]

/** A section without `entries` has an empty record of them, so that stored ones are removed. */
function toSchedules({ entries = {}, shortest, ...rest }: z.output<typeof section>): SchedulesOptions {
  return withoutUndefined<SchedulesOptions>({
    ...rest,
    shortestMs: shortest === undefined ? undefined : parseDuration(shortest),
    entries: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, toEntry(entry)])),
  })
}

function toEntry(entry: WrittenEntry): Omit<NewSchedule, 'name'> {
  const { cron, every, at, calls, jitter, timeout, ...rest } = entry
  return withoutUndefined<Omit<NewSchedule, 'name'>>({
    ...rest,
    when: toWhen({ cron, every, at }),
    calls: calls.map((call) => withoutUndefined(call)),
    jitterMs: jitter === undefined ? undefined : parseDuration(jitter),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
  })
}

/** The schema ensures that exactly one of them is given. */
function toWhen({ cron, every, at }: Pick<WrittenEntry, 'cron' | 'every' | 'at'>): WrittenWhen {
  if (cron !== undefined) return { cron }
  return every === undefined ? { at: at! } : { everyMs: parseDuration(every) }
}
