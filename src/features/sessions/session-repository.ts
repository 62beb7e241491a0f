import {
  ANY_TIME,
  all,
  count,
  entity,
  flag,
  get,
  nextNumber,
  page,
  pageSize,
  type Repository,
  run,
  transaction,
} from '../../core/sql/index.ts'
import type { MailStore, SessionStore, StoredMail, StoredSession } from './session-store.ts'

const SESSIONS = entity<StoredSession>('agent_sessions', {
  seq: 'seq',
  id: 'id',
  label: 'label',
  parent: 'parent',
  root: 'root',
  depth: 'depth',
  principal: 'principal',
  rootPrincipal: 'root_principal',
  runner: 'runner',
  task: 'task',
  limits: 'limits',
  isTainted: flag('tainted'),
  createdAt: 'created_at',
  owner: 'owner',
  state: 'state',
  reason: 'reason',
  result: 'result',
  endedAt: 'ended_at',
})
const LIST = { select: `SELECT ${SESSIONS.columns} FROM agent_sessions`, order: 'seq DESC' }
const END = `UPDATE agent_sessions SET state = ?, reason = ?, result = ?, ended_at = ?,
 tainted = CASE WHEN ? = 1 THEN 1 ELSE tainted END WHERE id = ? AND state = 'running'`
const REOPEN = `UPDATE agent_sessions SET state = 'running', reason = NULL, ended_at = NULL, owner = ?
 WHERE id = ? AND runner IS NULL`

/** Sessions of agents. */
export const sessions: Repository<SessionStore> = {
  add: (session, limit) =>
    transaction(function* () {
      const running = `agent_sessions WHERE root = ? AND state = 'running' AND runner IS NOT NULL`
      if (limit && (yield* count(running, session.root)) >= limit.maxRunning) return undefined
      const seq = yield* nextNumber('agent_sessions')
      const values = SESSIONS.values({ ...session, seq, state: 'running' })
      return (yield* run(`${SESSIONS.insert} ON CONFLICT (id) DO NOTHING`, ...values)) > 0 ? seq : undefined
    }),
  *find(id) {
    const row = yield* get(`${LIST.select} WHERE id = ?`, id)
    return row ? SESSIONS.read(row) : undefined
  },
  *list({ root, parent, label, rootPrincipal, state, before, createdBefore, limit }) {
    const rows = yield* page(
      LIST,
      [
        ['root = ?', root],
        ['parent = ?', parent],
        ['label = ?', label],
        ['root_principal = ?', rootPrincipal],
        ['state = ?', state],
        ['seq < ?', before],
        ['created_at < ?', createdBefore],
      ],
      limit,
    )
    return rows.map((row) => SESSIONS.read(row))
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

const MAIL = entity<StoredMail>('agent_mail', {
  seq: 'seq',
  id: 'id',
  inbox: 'inbox',
  sender: 'sender',
  text: 'content',
  replyTo: 'reply_to',
  isTainted: flag('tainted'),
  sentAt: 'sent_at',
  readAt: 'read_at',
})
const SELECT_MAIL = `SELECT ${MAIL.columns} FROM agent_mail`
const OLDEST_UNREAD = `${SELECT_MAIL} WHERE inbox = ? AND read_at IS NULL ORDER BY seq LIMIT ?`
const ANSWERS = `${SELECT_MAIL} WHERE inbox = ? AND read_at IS NULL AND sender = ? AND seq > ?
 AND (reply_to = ? OR reply_to IS NULL) ORDER BY seq LIMIT ?`
const MAIL_BEFORE = `${SELECT_MAIL} WHERE (inbox = ? OR sender = ?) AND seq < ? ORDER BY seq DESC LIMIT ?`
const MAIL_AFTER = `${SELECT_MAIL} WHERE (inbox = ? OR sender = ?) AND seq > ? ORDER BY seq LIMIT ?`

/** Messages between sessions. */
export const mail: Repository<MailStore> = {
  put: (message, { maxUnread }) =>
    transaction(function* () {
      if ((yield* countUnread(message.inbox)) >= maxUnread) return undefined
      const seq = yield* nextNumber('agent_mail')
      yield* run(MAIL.insert, ...MAIL.values({ ...message, seq }))
      return seq
    }),
  *take(inbox, { limit, now, answerTo }) {
    // Readers look again and again; while there is nothing they must not take turns at writing.
    if ((yield* countUnread(inbox)) === 0) return []
    return yield* transaction(function* () {
      const rows = yield* answerTo
        ? all(ANSWERS, inbox, answerTo.from, answerTo.seq, answerTo.id, pageSize(limit))
        : all(OLDEST_UNREAD, inbox, pageSize(limit))
      const taken = rows.map((row) => ({ ...MAIL.read(row), readAt: now }))
      for (const { seq } of taken) yield* run('UPDATE agent_mail SET read_at = ? WHERE seq = ?', now, seq)
      return taken
    })
  },
  unread: countUnread,
  *list({ session, before = ANY_TIME, after, limit }) {
    const rows =
      after === undefined
        ? (yield* all(MAIL_BEFORE, session, session, before, pageSize(limit))).reverse()
        : yield* all(MAIL_AFTER, session, session, after, pageSize(limit))
    return rows.map((row) => MAIL.read(row))
  },
}

function countUnread(inbox: string) {
  return count('agent_mail WHERE inbox = ? AND read_at IS NULL', inbox)
}
