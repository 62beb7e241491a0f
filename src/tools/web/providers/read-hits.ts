import type { z } from 'zod'

/** The entries of a list that have the form of a hit; others are no reason to lose the rest. */
export function readHits<T>(list: readonly unknown[], hit: z.ZodType<T>): T[] {
  return list.flatMap((entry) => {
    const { success, data } = hit.safeParse(entry)
    return success ? [data] : []
  })
}
