import { defineStore, run } from '../../core/sql/index.ts'
import { mail, sessions } from './session-repository.ts'
import { type MailStore, SESSION_AGE_MS, type SessionStore } from './session-store.ts'

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
  *sweep(now) {
    yield* run('DELETE FROM agent_sessions WHERE ended_at < ?', now - SESSION_AGE_MS)
    yield* run('DELETE FROM agent_mail WHERE sent_at < ?', now - SESSION_AGE_MS)
  },
})
