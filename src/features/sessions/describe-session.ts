import { z } from 'zod'
import { parseJson } from '../../lib/index.ts'
import type { SessionParts } from './session-parts.ts'
import type { StoredSession } from './session-store.ts'
import { toBrief, toEntry } from './to-entry.ts'
import type { SessionLimits, SessionStatus } from './types.ts'

const MAX_CHILDREN = 50
const limitsSchema = z.object({ calls: z.number(), wallMs: z.number(), cost: z.number() }).partial()

/** How a session is: what it used, what it began, how much waits for it. */
export async function describeSession(
  { host, book, post }: Pick<SessionParts, 'host' | 'book' | 'post'>,
  row: StoredSession,
): Promise<SessionStatus> {
  const limits = limitsSchema.safeParse(parseJson(row.limits ?? '{}')).data ?? {}
  const { calls, wallMs, cost } = await host.store.budgets.used(accountOf(row, limits))
  const isCounted = calls > 0 || Object.keys(limits).length > 0
  const children = await book.children(row.id)
  return {
    session: toEntry(row, book.isTainted(row)),
    ...(isCounted && { budget: { used: { calls, wallMs, cost }, limits } }),
    children: children.slice(0, MAX_CHILDREN).map(toBrief),
    messages: [],
    unread: await post.unread(row.id),
  }
}

/** Where its calls are counted: by its own limits, or else as those of any run. */
function accountOf({ id, principal }: StoredSession, limits: SessionLimits): string {
  return Object.keys(limits).length > 0 ? `principal:ever:${principal}` : `run:${id}`
}
