import type { SchedulesOptions } from '../../contracts/schedules.ts'
import { messageOf } from '../../errors.ts'
import { FROM_CONFIG } from './definition.ts'
import type { ScheduleBook } from './schedule-book.ts'

const MAKER = { rights: { caller: 'config' }, createdBy: { by: 'config', tainted: false } }

/**
 * Makes the schedules in the store those of the config: new ones are added, changed ones changed, others removed. Says
 * what cannot be used; the rest goes on. Without entries nobody said anything, so that all stays as it is.
 */
export async function syncEntries(
  book: ScheduleBook,
  { entries }: Pick<SchedulesOptions, 'entries'>,
): Promise<readonly string[]> {
  if (entries === undefined) return []
  const known = new Map<string, string>()
  for (const { row } of await book.list('')) if (row.name.startsWith(FROM_CONFIG)) known.set(row.name, row.id)
  const problems: string[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const id = known.get(`${FROM_CONFIG}${name}`)
    known.delete(`${FROM_CONFIG}${name}`)
    try {
      if (id === undefined) await book.add({ ...entry, name }, MAKER, FROM_CONFIG)
      // What the entry does not say any more is as if it had never been said.
      else await book.replace(id, { ...entry, name }, MAKER)
    } catch (error) {
      problems.push(`schedules.entries.${name}: ${messageOf(error)}`)
    }
  }
  for (const id of known.values()) await book.remove(id)
  return problems
}
