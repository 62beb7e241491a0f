/** A page of a list, newest first, and where the next one begins. */
export interface Page<T> {
  readonly items: readonly T[]
  /** `before` of the next page; absent when there is none. */
  readonly next?: number
}

const MOST_AT_ONCE = 5_000

/**
 * A page that does not split what began in one millisecond: the next page begins before a time, and a part of those would
 * be on neither. It is a little shorter for that, or, when one millisecond fills it, longer.
 */
export async function pageOf<T extends { readonly startedAt: number }>(
  fetch: (limit: number) => Promise<readonly T[]> | readonly T[],
  limit: number,
): Promise<Page<T>> {
  const found = await fetch(limit + 1)
  if (found.length <= limit) return { items: found }
  const { startedAt } = found[limit]!
  const before = found.filter((item) => item.startedAt > startedAt)
  if (before.length > 0) return { items: before, next: startedAt + 1 }
  if (limit >= MOST_AT_ONCE) return { items: found.slice(0, limit), next: startedAt }
  const same = (await fetch(MOST_AT_ONCE)).filter((item) => item.startedAt === startedAt)
  return { items: same, next: startedAt }
}
