import { z } from 'zod'
import { duration, key, parseDuration, text, withoutUndefined } from '../../core/config/index.ts'
import { defineConfig } from '../../core/index.ts'
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
    cron: key(text, 'When: minute, hour, day of month, month, day of week; "0 9 * * 1-5".'),
    every: key(duration, 'When: at this interval.'),
    at: key(time, 'When: once, at this time.'),
    timeZone: key(text, 'Of cron, at and until; schedules.timeZone unless said.'),
    calls: z.array(call).min(1).max(20).describe('The calls to make, in this order.'),
    continueOnError: key(z.boolean(), 'Make the other calls also after one that failed.', false),
    missed: key(
      z.enum(MISSED_POLICIES),
      'Times that passed while nothing ran: none, one run for all, one for each.',
      'once',
    ),
    overlap: key(
      z.enum(OVERLAP_POLICIES),
      'While the run before is not over: leave out, wait, or run beside it.',
      'skip',
    ),
    jitter: key(duration, 'Puts each time off by a random part of this.'),
    enabled: key(z.boolean(), 'false keeps it from running.', true),
    until: key(time, 'The last moment it may run at.'),
    maxRuns: key(z.int().min(1), 'So often and no more.'),
    timeout: key(duration, 'How long all calls of one run may take.', '1h'),
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
    z.record(z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,59}$/), entry),
    'Your own schedules by name; they are known as config:NAME, and run while tool-hub serve or tool-hub cron start does.',
  ),
  timeZone: key(text, 'Of schedules that name none, such as Europe/Berlin; that of the machine unless said.'),
  most: key(z.int().min(0).max(10_000), 'Most schedules of one principal.', 100),
  shortest: key(shortest, 'Shortest time between two runs of a schedule, 1s or more.', '10s'),
  parallel: key(z.int().min(1).max(256), 'Runs at the same time in one process.', 8),
  keep: key(z.int().min(1).max(10_000), 'How many past runs of each schedule are remembered.', 200),
})

/** The section `schedules` of the config file. */
export const schedulesConfig = defineConfig({
  description: 'Calls that are made later; docs/reference/schedules.md.',
  schema: section,
  toOptions: toSchedules,
})

type WrittenEntry = NonNullable<z.output<typeof section>['entries']>[string]

/** A section without entries says that there are none. */
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

/** The schema has seen to it that one of them is there. */
function toWhen({ cron, every, at }: Pick<WrittenEntry, 'cron' | 'every' | 'at'>): WrittenWhen {
  if (cron !== undefined) return { cron }
  return every === undefined ? { at: at! } : { everyMs: parseDuration(every) }
}
