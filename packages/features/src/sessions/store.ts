import {
  ANY_TIME,
  type Condition,
  count,
  defineStore,
  nextNumber,
  pageSize,
  type Repository,
  run,
  transaction,
} from '@tool-hub/core/sql'
import { MAIL, type MailStore, SESSION_AGE_MS, SESSIONS, type SessionStore } from './store-types.ts'

const END = `UPDATE agent_sessions SET state = ?, reason = ?, result = ?, ended_at = ?,
 tainted = CASE WHEN ? = 1 THEN 1 ELSE tainted END WHERE id = ? AND state = 'running'`
const REOPEN = `UPDATE agent_sessions SET state = 'running', reason = NULL, ended_at = NULL, owner = ?
 WHERE id = ? AND runner IS NULL`

/** Sessions of agents. */
const sessions: Repository<SessionStore> = {
  add: (session, limit) =>
    transaction(function* () {
      const running = `agent_sessions WHERE root = ? AND state = 'running' AND runner IS NOT NULL`
      if (limit && (yield* count(running, session.root)) >= limit.maxRunning) return undefined
      const seq = yield* nextNumber('agent_sessions')
      const values = SESSIONS.values({ ...session, seq, state: 'running' })
      return (yield* run(`${SESSIONS.insert} ON CONFLICT (id) DO NOTHING`, ...values)) > 0 ? seq : undefined
    }),
  find: (id) => SESSIONS.find('WHERE id = ?', id),
  *list({ root, parent, label, rootPrincipal, state, before, createdBefore, limit }) {
    const conditions: Condition[] = [
      ['root = ?', root],
      ['parent = ?', parent],
      ['label = ?', label],
      ['root_principal = ?', rootPrincipal],
      ['state = ?', state],
      ['seq < ?', before],
      ['created_at < ?', createdBefore],
    ]
    return yield* SESSIONS.page('seq DESC', conditions, limit)
  },
  *end(id, { state, reason, result, isTainted, at }) {
    return (yield* run(END, state, reason, result, at, isTainted ? 1 : 0, id)) > 0
  },
  *reopen(id, owner) {
    yield* run(REOPEN, owner, id)
  },
  *taint(id) {
    yield* run('UPDATE agent_sessions SET tainted = 1 WHERE id = ? AND tainted = 0', id)
  },
}

const OLDEST_UNREAD = 'WHERE inbox = ? AND read_at IS NULL ORDER BY seq LIMIT ?'
const ANSWERS = `WHERE inbox = ? AND read_at IS NULL AND sender = ? AND seq > ?
 AND (reply_to = ? OR reply_to IS NULL) ORDER BY seq LIMIT ?`
const MAIL_BEFORE = 'WHERE (inbox = ? OR sender = ?) AND seq < ? ORDER BY seq DESC LIMIT ?'
const MAIL_AFTER = 'WHERE (inbox = ? OR sender = ?) AND seq > ? ORDER BY seq LIMIT ?'

/** Messages between sessions. */
const mail: Repository<MailStore> = {
  put: (message, { maxUnread }) =>
    transaction(function* () {
      if ((yield* countUnread(message.inbox)) >= maxUnread) return undefined
      const seq = yield* nextNumber('agent_mail')
      yield* run(MAIL.insert, ...MAIL.values({ ...message, seq }))
      return seq
    }),
  *take(inbox, { limit, now, answerTo }) {
    // Readers poll; while there is nothing to read, they must not take the write lock.
    if ((yield* countUnread(inbox)) === 0) return []
    return yield* transaction(function* () {
      const unread = yield* answerTo
        ? MAIL.list(ANSWERS, inbox, answerTo.from, answerTo.seq, answerTo.id, pageSize(limit))
        : MAIL.list(OLDEST_UNREAD, inbox, pageSize(limit))
      const taken = unread.map((message) => ({ ...message, readAt: now }))
      for (const { seq } of taken) yield* run('UPDATE agent_mail SET read_at = ? WHERE seq = ?', now, seq)
      return taken
    })
  },
  unread: countUnread,
  *list({ session, before = ANY_TIME, after, limit }) {
    return after === undefined
      ? (yield* MAIL.list(MAIL_BEFORE, session, session, before, pageSize(limit))).reverse()
      : yield* MAIL.list(MAIL_AFTER, session, session, after, pageSize(limit))
  },
}

function countUnread(inbox: string) {
  return count('agent_mail WHERE inbox = ? AND read_at IS NULL', inbox)
}

/** Both are numbered by counters, as events are. */
const FIRST_NUMBERS = `
INSERT INTO counters (name, value) VALUES ('agent_sessions', 0);
INSERT INTO counters (name, value) VALUES ('agent_mail', 0);
`

/** Agents' sessions that are over make room, then runs in which no session was started; sessions with a runner never do. */
const OVER_OR_BARE = `SELECT id AS key FROM agent_sessions WHERE seq < (SELECT MAX(seq) FROM agent_sessions)
 AND (state <> 'running' OR (runner IS NULL
 AND id NOT IN (SELECT root FROM agent_sessions WHERE runner IS NOT NULL)))
 ORDER BY CASE WHEN state <> 'running' THEN 0 ELSE 1 END, seq LIMIT ?`
const READ_MAIL = 'SELECT seq AS key FROM agent_mail WHERE read_at IS NOT NULL ORDER BY seq LIMIT ?'

/** Sessions of agents, and the messages between them. */
export const sessionsStore = defineStore<{ sessions: SessionStore; mail: MailStore }>({
  repositories: { sessions, mail },
  tables: [SESSIONS, MAIL, { migrations: { 9: FIRST_NUMBERS } }],
  durable: { sessions: ['add', 'end', 'reopen', 'taint'], mail: ['put'] },
  bounds: {
    sessions: [
      {
        table: 'agent_sessions',
        methods: ['add'],
        what: 'running sessions',
        evict: { column: 'id', select: OVER_OR_BARE },
      },
    ],
    mail: [
      { table: 'agent_mail', methods: ['put'], what: 'unread messages', evict: { column: 'seq', select: READ_MAIL } },
    ],
  },
  // A session that made no calls is found by the run that it came from.
  runText: `EXISTS (SELECT 1 FROM agent_sessions WHERE (id = runs.run OR root = runs.run) AND LOWER(task) LIKE ? ESCAPE '!')`,
  *sweep(now) {
    yield* run('DELETE FROM agent_sessions WHERE ended_at < ?', now - SESSION_AGE_MS)
    yield* run('DELETE FROM agent_mail WHERE sent_at < ?', now - SESSION_AGE_MS)
  },
})
