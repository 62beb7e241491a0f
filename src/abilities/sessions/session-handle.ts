import type { AbilityCall } from '../../contracts/ability.ts'
import type { HistoryEntry, SessionEntry, SessionHandle } from '../../contracts/sessions.ts'
import { ToolError } from '../../errors.ts'
import type { StoredSession } from '../../store-parts/sessions.ts'
import { OWNER } from './bounds.ts'
import { describeSession } from './describe-session.ts'
import { inSight } from './in-sight.ts'
import { permitAll } from './permit-all.ts'
import { readCursor } from './read-cursor.ts'
import { readHistory } from './session-history.ts'
import type { SessionParts } from './session-parts.ts'
import { runnerBriefs } from './spawn-session.ts'
import { toBrief, toEntry } from './to-entry.ts'
import { untilOver } from './until-over.ts'

const LIMIT = 50

/** The sessions as one call may use them. */
export function createSessionHandle(parts: SessionParts, call: AbilityCall): SessionHandle {
  const { options, host, book, post, live } = parts
  const find = async (own: StoredSession, name: string): Promise<StoredSession> => {
    const found = await book.resolve(own, name)
    permitAll(call, name, found)
    if (book.isTainted(found)) call.markUntrusted()
    return found
  }
  return {
    async list({ state, before, limit = LIMIT }) {
      const own = await book.own(call)
      const { rows, next } = await book.list(own, { state, before: readCursor(before), limit })
      const more = next === undefined ? {} : { next: String(next) }
      return { sessions: rows.map(toBrief), ...more, own: own.id, runners: runnerBriefs(options) }
    },

    async history(session, wish) {
      const own = await book.own(call)
      const found = await find(own, session)
      const page = await readHistory(host, found.id, wish)
      if (page.entries.some(isUntrusted)) call.markUntrusted()
      return { ...page, entries: await inSight(book, own, found, page.entries) }
    },

    async send(session, { text, replyTo, waitMs = 0 }) {
      const own = await book.own(call)
      const letter = { text, isTainted: call.isTainted, ...(replyTo !== undefined && { replyTo }) }
      if (session === OWNER) {
        call.permits('session', OWNER)
        await call.beforeEffect()
        const { id } = await post.sendToOwner(own.id, letter)
        return { message: id, session: OWNER, status: 'sent', state: 'running' }
      }
      const to = await book.resolve(own, session)
      permitAll(call, session, to)
      if (to.id === own.id) throw new ToolError('INPUT_SCHEMA_INVALID', 'A session does not write to itself.')
      await call.beforeEffect()
      const sent = await post.send(own.id, to, letter)
      if (waitMs <= 0) return { message: sent.id, session: to.id, status: 'sent', state: to.state }
      const outcome = await post.answer(sent, to, { from: own.id, waitMs, signal: call.signal() })
      const isFromOutside = outcome.reply ? outcome.reply.isUntrusted : book.isTainted((await book.find(to.id)) ?? to)
      if (outcome.status !== 'timeout' && isFromOutside) call.markUntrusted()
      return outcome
    },

    async spawn(wish) {
      const parent = await book.own(call)
      const { session, rights, isTainted } = call
      const onPlanned = async () => {
        call.permits('session', `runner:${wish.runner ?? 'default'}`)
        await call.beforeEffect()
      }
      const row = await live.begin(wish, { parent, rights, isTainted }, { session, onPlanned })
      return finished(parts, call, row, wish.waitMs ?? 0)
    },

    async status(session) {
      const own = await book.own(call)
      if (session !== undefined && session !== own.id) {
        const status = await describeSession(parts, await find(own, session))
        const seen = await book.seen(
          own,
          status.children.map(({ id }) => id),
        )
        return { ...status, children: status.children.filter(({ id }) => seen.has(id)) }
      }
      const unread = await post.unread(own.id)
      if (unread > 0) await call.beforeEffect()
      const messages = unread > 0 ? await post.take(own.id) : []
      if (messages.some(({ isUntrusted }) => isUntrusted)) call.markUntrusted()
      const isTainted = call.isTainted
      return { ...(await describeSession(parts, { ...own, isTainted })), messages }
    },
  }
}

/** Waits for the end of a session that was just begun; whoever stops the call stops the session, too. */
async function finished(
  parts: SessionParts,
  call: AbilityCall,
  row: StoredSession,
  waitMs: number,
): Promise<SessionEntry> {
  const { book, live } = parts
  try {
    const over = await untilOver(parts, row, { waitMs, signal: call.signal() })
    if (over && book.isTainted(over)) call.markUntrusted()
    return toEntry(over ?? row)
  } catch (error) {
    const isStopped = ToolError.is(error) && error.code === 'ABORTED'
    if (isStopped) await live.end(row, { state: 'ended', reason: 'Whoever began it was stopped.' })
    throw error
  }
}

function isUntrusted(entry: HistoryEntry): boolean {
  return entry.type === 'call' ? entry.isUntrusted : entry.message.isUntrusted
}
