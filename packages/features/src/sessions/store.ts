import {
  ANY_TIME,
  all,
  count,
  defineStore,
  entity,
  flag,
  get,
  nextNumber,
  page,
  pageSize,
  type Repository,
  run,
  transaction,
} from '@tool-hub/core/sql'
import {
  type MailStore,
  SESSION_AGE_MS,
  type SessionStore,
  type StoredMail,
  type StoredSession,
} from './store-types.ts'

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
const sessions: Repository<SessionStore> = {
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

/** Sessions of agents; `sessions` are the sign-ins of people. */
const TABLES = `
CREATE TABLE agent_sessions (
  id TEXT PRIMARY KEY,
  seq BIGINT NOT NULL UNIQUE,
  label TEXT,
  parent TEXT,
  root TEXT NOT NULL,
  depth INTEGER NOT NULL,
  principal TEXT,
  root_principal TEXT NOT NULL,
  runner TEXT,
  task TEXT,
  limits TEXT,
  tainted INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  owner TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  result TEXT,
  ended_at BIGINT
);
CREATE INDEX agent_sessions_root ON agent_sessions (root, seq);
CREATE INDEX agent_sessions_parent ON agent_sessions (parent, seq);
CREATE INDEX agent_sessions_principal ON agent_sessions (root_principal, seq);
CREATE INDEX agent_sessions_state ON agent_sessions (state, seq);
CREATE INDEX agent_sessions_end ON agent_sessions (ended_at);
CREATE TABLE agent_mail (
  seq BIGINT PRIMARY KEY,
  id TEXT NOT NULL,
  inbox TEXT NOT NULL,
  sender TEXT NOT NULL,
  content TEXT NOT NULL,
  reply_to TEXT,
  tainted INTEGER NOT NULL,
  sent_at BIGINT NOT NULL,
  read_at BIGINT
);
CREATE INDEX agent_mail_unread ON agent_mail (inbox, read_at, seq);
CREATE INDEX agent_mail_inbox ON agent_mail (inbox, seq);
CREATE INDEX agent_mail_sender ON agent_mail (sender, seq);
CREATE INDEX agent_mail_age ON agent_mail (sent_at);
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
  migrations: { 9: TABLES },
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
