import { OWNER } from './bounds.ts'
import type { StoredMail, StoredSession } from './session-store.ts'
import type { SessionBrief, SessionEntry, SessionMessage } from './types.ts'

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
