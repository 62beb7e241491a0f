import type { CallEntry } from '../../api/types.ts'

const PAGE = 500
const MAX_CALLS = 10_000

type Page = { readonly calls: readonly CallEntry[]; readonly next?: number }

/** All matching calls of all pages, and whether there are more than 10,000. */
export async function collectCalls(
  load: (page: { readonly limit: number; readonly before?: number }) => Promise<Page>,
  { since, fits }: { readonly since: number; readonly fits: (call: CallEntry) => boolean },
): Promise<{ readonly calls: readonly CallEntry[]; readonly isCut: boolean }> {
  const found: CallEntry[] = []
  let before: number | undefined
  do {
    const { calls, next } = await load({ limit: PAGE, ...(before !== undefined && { before }) })
    const recent = calls.filter(({ startedAt }) => startedAt >= since)
    found.push(...recent.filter(fits))
    // Calls are sorted newest first: all calls after the first old one are older.
    before = recent.length < calls.length ? undefined : next
  } while (before !== undefined && found.length <= MAX_CALLS)
  return { calls: found.slice(0, MAX_CALLS), isCut: before !== undefined || found.length > MAX_CALLS }
}
