import { z } from 'zod'
import { parseJson } from '../../lib/index.ts'
import type { SessionRuntime } from './live-sessions.ts'
import type { StoredSession, StoredMail } from './store-types.ts'
import type { SessionLimits, SessionStatus, SessionBrief, SessionEntry, SessionMessage } from './types.ts'
import { OWNER } from './bounds.ts'

const MAX_CHILDREN = 50
const limitsSchema = z.object({ calls: z.number(), wallMs: z.number(), cost: z.number() }).partial()

/** How a session is: what it used, what it began, how much waits for it. */
export async function describeSession(
  { host, book, post }: Pick<SessionRuntime, 'host' | 'book' | 'post'>,
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

/** Who writes as the owner; no run has such a name. */
export const OWNER_SENDER = '@owner'

/** Where answers to the owner wait; no run has such a name. */
export function ownerInbox(session: string): string {
  return `${OWNER_SENDER}:${session}`
}

/** A session in a list: nothing in it was written freely by a model. */
export function toBrief(row: StoredSession): SessionBrief {
  const { id, label, parent, runner, state, createdAt, endedAt } = row
  return {
    id,
    ...(label !== undefined && { label }),
    ...(parent !== undefined && { parent }),
    ...(runner !== undefined && { runner }),
    state,
    createdAt: timeOf(createdAt),
    ...(endedAt !== undefined && { endedAt: timeOf(endedAt) }),
  }
}

/** All that is known of a session. */
export function toEntry(row: StoredSession, isTainted = row.isTainted): SessionEntry {
  const { root, principal, task, reason, result } = row
  return {
    ...toBrief(row),
    root,
    ...(principal !== undefined && { principal }),
    ...(task !== undefined && { task }),
    ...(reason !== undefined && { reason }),
    ...(result !== undefined && { result }),
    isTainted,
  }
}

/** A message as its reader sees it. */
export function toMessage({ id, sender, inbox, text, replyTo, isTainted, sentAt }: StoredMail): SessionMessage {
  return {
    id,
    from: sender === OWNER_SENDER ? OWNER : sender,
    to: inbox.startsWith(OWNER_SENDER) ? OWNER : inbox,
    text,
    ...(replyTo !== undefined && { replyTo }),
    isUntrusted: isTainted,
    sentAt: timeOf(sentAt),
  }
}

function timeOf(time: number): string {
  return new Date(time).toISOString()
}
