import type { NewSchedule, SchedulesOptions, WrittenWhen } from '../contracts/schedules.ts'
import type { WrittenSchedules } from './schedules-schema.ts'
import { parseDuration } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

type WrittenEntry = NonNullable<WrittenSchedules['entries']>[string]

/** What `schedules` says, in the words of `createToolHub`. A section without entries says that there are none. */
export function toSchedules({ entries = {}, shortest, ...rest }: WrittenSchedules): SchedulesOptions {
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
