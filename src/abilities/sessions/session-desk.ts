import type { SessionDesk, SessionEntry, SessionListing, SessionPage } from '../../contracts/sessions.ts'
import { ToolError } from '../../errors.ts'
import type { IndexedRun } from '../../store.ts'
import type { StoredSession } from '../../store-parts/sessions.ts'
import { OWNER } from './bounds.ts'
import { describeSession } from './describe-session.ts'
import { readCursor } from './read-cursor.ts'
import { readHistory } from './session-history.ts'
import type { SessionParts } from './session-parts.ts'
import { runnerBriefs } from './spawn-session.ts'
import { OWNER_SENDER, toEntry } from './to-entry.ts'
import { untilOver } from './until-over.ts'

const LIMIT = 50
const MOST_LISTED = 200

/** The sessions as the owner of a hub sees them: all of them, and every run that is in the index. */
export function createSessionDesk(parts: SessionParts): SessionDesk {
  const { options, host, book, post, live } = parts
  const find = async (name: string): Promise<StoredSession> => {
    const run = await host.store.calls.run(name)
    return book.resolveAny(name, run && toRow(run))
  }
  return {
    async list(wish = {}) {
      await book.endOrphans()
      return listAll(parts, wish)
    },

    async find(session) {
      return describeSession(parts, await find(session))
    },

    async history(session, wish = {}) {
      const { id } = await find(session)
      await post.readAsOwner(id)
      return readHistory(host, id, wish)
    },

    async send(session, { by, text, replyTo, waitMs = 0 }) {
      const to = await find(session)
      const sent = await post.sendAsOwner(to, { text, ...(replyTo !== undefined && { replyTo }) })
      await host.recordChange({ by, change: 'message-sent', subject: `session ${to.id}` })
      if (waitMs <= 0) return { message: sent.id, session: to.id, status: 'sent', state: to.state }
      return post.answer(sent, to, { from: OWNER_SENDER, waitMs })
    },

    async spawn({ by, waitMs = 0, ...wish }) {
      const rights = { caller: by }
      const row = await live.begin(wish, { rights, isTainted: false })
      await host.recordChange({ by, change: 'session-begun', subject: row.id })
      return toEntry((await untilOver(parts, row, { waitMs })) ?? row)
    },

    async end(session, { by, reason }) {
      const row = await find(session)
      if (row.seq === 0) throw new ToolError('CONFLICT', `${row.id} is a run that no session is known of.`)
      const why = `It was ended by ${by}${reason === undefined ? '' : `: ${reason}`}.`
      const hasEnded = await live.end(row, { state: 'ended', reason: host.redact(why) })
      if (hasEnded) await host.recordChange({ by, change: 'session-ended', subject: row.id })
      return hasEnded
    },

    runners: async () => runnerBriefs(options),
  }
}

/** Sessions and runs in one list, newest first; a page does not split what began in one millisecond. */
async function listAll(
  { host, book }: SessionParts,
  { state, before, principal, limit = LIMIT }: SessionListing & { readonly principal?: string },
): Promise<SessionPage<SessionEntry>> {
  const most = Math.min(Math.max(1, Math.trunc(limit)), MOST_LISTED)
  const time = readCursor(before)
  const sessions = await host.store.sessions.list({
    state,
    rootPrincipal: principal,
    createdBefore: time,
    limit: most + 1,
  })
  // Of a run that is only in the index nobody knows whether it goes on.
  const runs =
    state === 'running' ? [] : await host.store.calls.runs({ caller: principal, before: time, limit: most + 1 })
  const known = await Promise.all(runs.map(({ run }) => host.store.sessions.find(run)))
  const all = [...sessions, ...runs.filter((_, index) => !known[index] && state !== 'failed').map(toRow)]
  all.sort((a, b) => b.createdAt - a.createdAt)
  const entries = (rows: readonly StoredSession[]) => rows.map((row) => toEntry(row, book.isTainted(row)))
  const isMore = sessions.length > most || runs.length > most || all.length > most
  if (!isMore) return { sessions: entries(all) }
  const cut = all[Math.min(most, all.length - 1)]?.createdAt ?? 0
  const whole = all.filter(({ createdAt }) => createdAt > cut)
  if (whole.length > 0) return { sessions: entries(whole), next: String(cut + 1) }
  return { sessions: entries(all.filter(({ createdAt }) => createdAt === cut)), next: String(cut) }
}

/** A run that never asked about sessions. */
function toRow({ run, caller, principal = caller, startedAt, endedAt }: IndexedRun): StoredSession {
  return {
    ...{ id: run, root: run, seq: 0, depth: 0, owner: '', isTainted: false, state: 'ended' },
    ...{ principal, rootPrincipal: OWNER, createdAt: startedAt, endedAt },
  }
}
