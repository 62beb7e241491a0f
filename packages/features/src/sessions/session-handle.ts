import { type FeatureCall, ToolError } from '@tool-hub/core'
import { describeSession, textsOfOwner, toBrief, toEntry } from './describe-session.ts'
import type { SessionRuntime } from './live-sessions.ts'
import { readHistory } from './session-history.ts'
import type { SessionRegistry } from './session-registry.ts'
import { runnerBriefs } from './spawn-session.ts'
import type { StoredSession } from './store-types.ts'
import { type HistoryEntry, OWNER, type SessionEntry, type SessionHandle } from './types.ts'

/** Tools whose results contain data about sessions. */
const TELLS_OF_SESSIONS = 'core/session.'

const LIMIT = 50

/** The sessions as one call sees them. */
export function createSessionHandle(parts: SessionRuntime, call: FeatureCall): SessionHandle {
  const { options, host, registry, mailbox, live } = parts
  const find = async (own: StoredSession, name: string): Promise<StoredSession> => {
    const found = await registry.resolve(own, name)
    permitAll(call, name, found)
    if (await registry.isTainted(found)) call.markUntrusted()
    return found
  }
  return {
    async list({ state, before, limit = LIMIT }) {
      const own = await registry.own(call)
      const { rows, next } = await registry.list(own, { state, before: readCursor(before), limit })
      // A session that this one has not started may have got its label from content from outside.
      if (rows.some(({ id, label, parent, isTainted }) => isTainted && label && id !== own.id && parent !== own.id))
        call.markUntrusted()
      const more = next === undefined ? {} : { next: String(next) }
      return { sessions: rows.map(toBrief), ...more, own: own.id, runners: runnerBriefs(options) }
    },

    async history(session, wish) {
      const own = await registry.own(call)
      const found = await find(own, session)
      const page = await readHistory(host, found.id, wish)
      if (page.entries.some(isUntrusted)) call.markUntrusted()
      return { ...page, entries: await inSight(registry, own, found, page.entries) }
    },

    async send(session, { text, replyTo, waitMs = 0 }) {
      const own = await registry.own(call)
      const message = { text, isTainted: call.isTainted, ...(replyTo !== undefined && { replyTo }) }
      if (session === OWNER) {
        call.permits('session', OWNER)
        await call.beforeEffect()
        const { id } = await mailbox.sendToOwner(own.id, message)
        return { message: id, session: OWNER, status: 'sent', state: 'running' }
      }
      const to = await registry.resolve(own, session)
      permitAll(call, session, to)
      if (to.id === own.id) throw new ToolError('INPUT_SCHEMA_INVALID', 'A session does not write to itself.')
      await call.beforeEffect()
      const sent = await mailbox.send(own.id, to, message)
      if (waitMs <= 0) return { message: sent.id, session: to.id, status: 'sent', state: to.state }
      const outcome = await mailbox.answer(sent, to, { from: own.id, waitMs, signal: call.signal() })
      const isFromOutside = outcome.reply
        ? outcome.reply.isUntrusted
        : await registry.isTainted((await registry.find(to.id)) ?? to)
      if (outcome.status !== 'timeout' && isFromOutside) call.markUntrusted()
      return outcome
    },

    async spawn(wish) {
      const parent = await registry.own(call)
      const { session, rights, isTainted } = call
      const onPlanned = async () => {
        call.permits('session', `runner:${wish.runner ?? 'default'}`)
        await call.beforeEffect()
      }
      const row = await live.begin(wish, { parent, rights, isTainted }, { session, onPlanned })
      return finished(parts, call, row, wish.waitMs ?? 0)
    },

    async status(session) {
      const own = await registry.own(call)
      if (session !== undefined && session !== own.id) {
        const status = await describeSession(parts, await find(own, session))
        const seen = await registry.seen(
          own,
          status.children.map(({ id }) => id),
        )
        return { ...status, children: status.children.filter(({ id }) => seen.has(id)) }
      }
      const unread = await host.store.mail.unread(own.id)
      if (unread > 0) await call.beforeEffect()
      const messages = unread > 0 ? await mailbox.take(own.id) : []
      if (messages.some(({ isUntrusted }) => isUntrusted)) call.markUntrusted()
      const said = textsOfOwner(messages)
      if (said.length > 0) await call.addUserText(said)
      const isTainted = call.isTainted
      return { ...(await describeSession(parts, { ...own, isTainted })), messages }
    },
  }
}

/** Waits for the end of a new session; aborting the call ends the session. */
async function finished(
  parts: SessionRuntime,
  call: FeatureCall,
  row: StoredSession,
  waitMs: number,
): Promise<SessionEntry> {
  const { registry, live } = parts
  try {
    const over = await untilOver(parts, row, { waitMs, signal: call.signal() })
    if (over && (await registry.isTainted(over))) call.markUntrusted()
    return toEntry(over ?? row)
  } catch (error) {
    const isStopped = ToolError.is(error) && error.code === 'ABORTED'
    if (isStopped) await live.end(row, { state: 'ended', reason: 'The call that started it was stopped.' })
    throw error
  }
}

function isUntrusted(entry: HistoryEntry): boolean {
  return entry.type === 'call' ? entry.isUntrusted : entry.message.isUntrusted
}

/**
 * A rule may name a session by its id or by its label, so both have to pass. The name used in the call was judged before
 * the call; if a rule about the other name asks, the call must have been approved.
 */
export function permitAll(call: FeatureCall, named: string, { id, label }: StoredSession): void {
  call.permits('session', named)
  for (const name of [id, label]) {
    if (name === undefined || name === named) continue
    const answer = call.allows('session', name)
    if (answer.ok || (answer.effect === 'ask' && call.isApproved)) continue
    throw new ToolError('POLICY_DENIED', `The session ${named} is also ${name}, which is ${answer.why}.`, {
      hint: answer.effect === 'ask' ? `Call it ${name}, so that a person can be asked.` : undefined,
    })
  }
}

/** Filters a history for a session: the history of an ancestor shows nothing of sessions that it cannot see. */
export async function inSight(
  registry: SessionRegistry,
  own: StoredSession,
  of: StoredSession,
  entries: readonly HistoryEntry[],
): Promise<readonly HistoryEntry[]> {
  if (of.depth >= own.depth) return entries
  const names = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message.from, entry.message.to] : []))
  const seen = await registry.seen(own, names)
  const isSeen = (name: string) => name === OWNER || seen.has(name)
  return entries.flatMap((entry): HistoryEntry[] => {
    if (entry.type === 'call') return [entry.tool.startsWith(TELLS_OF_SESSIONS) ? { ...entry, summary: '' } : entry]
    return isSeen(entry.message.from) && isSeen(entry.message.to) ? [entry] : []
  })
}

/** Waits until a session is over; returns `undefined` if the time is up first. */
export async function untilOver(
  { events, registry }: Pick<SessionRuntime, 'events' | 'registry'>,
  { id }: StoredSession,
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
): Promise<StoredSession | undefined> {
  if (waitMs <= 0) return undefined
  const look = async () => {
    const now = await registry.find(id)
    return now?.state === 'running' ? undefined : now
  }
  return events.until({ subjects: [id], look, withinMs: waitMs, signal })
}

/** Parses the `next` of an earlier page. */
export function readCursor(before: string | undefined): number | undefined {
  if (before === undefined) return undefined
  if (/^\d{1,16}$/.test(before)) return Number(before)
  throw new ToolError('INPUT_SCHEMA_INVALID', 'before is the next of an earlier page.', {
    hint: 'Leave it out for the newest ones.',
  })
}
