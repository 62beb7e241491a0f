import { type FeatureCall, ToolError } from '../../core/index.ts'
import { OWNER } from './bounds.ts'
import { describeSession } from './describe-session.ts'
import { readHistory } from './session-history.ts'
import type { SessionRuntime } from './live-sessions.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { StoredSession } from './store-types.ts'
import { runnerBriefs } from './spawn-session.ts'
import { toBrief, toEntry } from './describe-session.ts'
import type { HistoryEntry, SessionEntry, SessionHandle } from './types.ts'

/** Tools whose results tell of sessions. */
const TELLS_OF_SESSIONS = 'core/session.'

const LIMIT = 50

/** The sessions as one call may use them. */
export function createSessionHandle(parts: SessionRuntime, call: FeatureCall): SessionHandle {
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
  parts: SessionRuntime,
  call: FeatureCall,
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

/**
 * A session has an id and maybe a label, and a rule may be about either: whatever it was called by, both have to pass. The
 * name in the call was judged before it; where a rule about the other one asks, somebody must have said yes to the call.
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

/** What a session is shown of a history: in that of one above it, nothing of those that lie beside it. */
export async function inSight(
  book: SessionRegistry,
  own: StoredSession,
  of: StoredSession,
  entries: readonly HistoryEntry[],
): Promise<readonly HistoryEntry[]> {
  if (of.depth >= own.depth) return entries
  const names = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message.from, entry.message.to] : []))
  const seen = await book.seen(own, names)
  const isSeen = (name: string) => name === OWNER || seen.has(name)
  return entries.flatMap((entry): HistoryEntry[] => {
    if (entry.type === 'call') return [entry.tool.startsWith(TELLS_OF_SESSIONS) ? { ...entry, summary: '' } : entry]
    return isSeen(entry.message.from) && isSeen(entry.message.to) ? [entry] : []
  })
}

/** A session when it is over; undefined when that is not so in time. */
export async function untilOver(
  { wakes, book }: Pick<SessionRuntime, 'wakes' | 'book'>,
  { id }: StoredSession,
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
): Promise<StoredSession | undefined> {
  if (waitMs <= 0) return undefined
  const look = async () => {
    const now = await book.find(id)
    return now?.state === 'running' ? undefined : now
  }
  return wakes.until({ subjects: [id], look, withinMs: waitMs, signal })
}

/** The number that an earlier page gave as the place of the next one. */
export function readCursor(before: string | undefined): number | undefined {
  if (before === undefined) return undefined
  if (/^\d{1,16}$/.test(before)) return Number(before)
  throw new ToolError('INPUT_SCHEMA_INVALID', 'before is the next of an earlier page.', {
    hint: 'Leave it out for the newest ones.',
  })
}
