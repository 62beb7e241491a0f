import type { FeatureHost } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { SessionLimits } from './runner.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { StoredMail, StoredSession } from './store-types.ts'
import { OWNER, type SessionBrief, type SessionEntry, type SessionMessage, type SessionStatus } from './types.ts'

const MAX_CHILDREN = 50
const limitsSchema = z.object({ calls: z.number(), wallMs: z.number(), cost: z.number() }).partial()

/** The status of a session: its usage, its children and its unread messages. */
export async function describeSession(
  { host, registry }: { readonly host: FeatureHost; readonly registry: SessionRegistry },
  row: StoredSession,
): Promise<SessionStatus> {
  const limits = limitsSchema.safeParse(parseJson(row.limits ?? '{}')).data ?? {}
  const { calls, wallMs, cost } = await host.store.budgets.used(accountOf(row, limits))
  const isCounted = calls > 0 || Object.keys(limits).length > 0
  const children = await registry.children(row.id)
  return {
    session: toEntry(row, await registry.isTainted(row)),
    ...(isCounted && { budget: { used: { calls, wallMs, cost }, limits } }),
    children: children.slice(0, MAX_CHILDREN).map(toBrief),
    messages: [],
    unread: await host.store.mail.unread(row.id),
  }
}

/** The budget account of its calls: its own if it has limits, otherwise that of its run. */
function accountOf({ id, principal }: StoredSession, limits: SessionLimits): string {
  return Object.keys(limits).length > 0 ? `principal:ever:${principal}` : `run:${id}`
}

/** The sender name of the owner; no run can have it. */
export const OWNER_SENDER = '@owner'

/** The inbox for answers to the owner; no run can have this name. */
export function ownerInbox(session: string): string {
  return `${OWNER_SENDER}:${session}`
}

/** A session in a list; contains no free text of a model. */
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

/** A session with its task and outcome. */
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

/** What the owner wrote to a session: the words of a person, unlike what sessions write to each other. */
export function textsOfOwner(messages: readonly SessionMessage[]): readonly string[] {
  return messages.flatMap(({ from, text }) => (from === OWNER ? [text] : []))
}

function timeOf(time: number): string {
  return new Date(time).toISOString()
}
