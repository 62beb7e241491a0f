import { NOTE_INDEX } from '../sql/notes-index.ts'

/** Written with every call, so the sweep has no index of times: each would cost one more page at every write. */
const KEYS_BUDGETS_RATES = `
CREATE TABLE idempotency_keys (
  name TEXT PRIMARY KEY,
  args_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  owner TEXT NOT NULL,
  expires_at BIGINT,
  result TEXT
);
CREATE TABLE budgets (
  account TEXT PRIMARY KEY,
  calls BIGINT NOT NULL,
  wall_ms DOUBLE PRECISION NOT NULL,
  bytes DOUBLE PRECISION NOT NULL,
  cost DOUBLE PRECISION NOT NULL,
  expires_at BIGINT
);
CREATE TABLE rates (
  bucket TEXT PRIMARY KEY,
  tokens DOUBLE PRECISION NOT NULL,
  filled_at BIGINT NOT NULL,
  full_at BIGINT NOT NULL
);
`

const ASKS_GRANTS = `
CREATE TABLE asks (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  call_id TEXT NOT NULL,
  run TEXT NOT NULL,
  tool TEXT NOT NULL,
  caller TEXT NOT NULL,
  hash TEXT NOT NULL,
  request TEXT NOT NULL,
  asked_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  owner TEXT NOT NULL,
  state TEXT NOT NULL,
  used INTEGER NOT NULL,
  reply TEXT,
  answered_by TEXT,
  answered_via TEXT,
  answered_at BIGINT
);
CREATE INDEX asks_age ON asks (asked_at);
CREATE INDEX asks_expiry ON asks (expires_at);
CREATE INDEX asks_state ON asks (state, asked_at);
CREATE INDEX asks_hash ON asks (hash, caller);
CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  tool TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT
);
CREATE INDEX grants_tool ON grants (tool, created_at);
`

const TOKENS_SESSIONS = `
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  used_at BIGINT
);
CREATE TABLE sessions (
  hash TEXT PRIMARY KEY,
  token TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_token ON sessions (token);
CREATE INDEX sessions_expiry ON sessions (expires_at);
`

const JOBS_SLOTS_NOTES = `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  attempts INTEGER NOT NULL,
  owner TEXT,
  leased_until BIGINT NOT NULL
);
CREATE INDEX jobs_due ON jobs (kind, due_at);
CREATE TABLE slots (
  slot TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  leased_until BIGINT NOT NULL
);
CREATE TABLE notes (
  id TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  content TEXT NOT NULL,
  searched TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX notes_scope ON notes (scope, created_at);
`

const CALLS = `
CREATE TABLE calls (
  call_id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  seq BIGINT NOT NULL,
  tool TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  parent TEXT,
  status TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  duration_ms DOUBLE PRECISION,
  effect TEXT,
  rule TEXT,
  error TEXT,
  summary TEXT,
  targets TEXT,
  approved_by TEXT,
  failed INTEGER NOT NULL,
  searched TEXT NOT NULL
);
CREATE INDEX calls_time ON calls (started_at);
CREATE INDEX calls_run ON calls (run, started_at);
CREATE INDEX calls_tool ON calls (tool, started_at);
CREATE INDEX calls_caller ON calls (caller, started_at);
CREATE INDEX calls_failed ON calls (failed, started_at);
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  caller TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  calls BIGINT NOT NULL,
  failures BIGINT NOT NULL,
  bytes BIGINT NOT NULL
);
CREATE INDEX runs_time ON runs (started_at);
CREATE INDEX runs_caller ON runs (caller, started_at);
`

/** Event numbers come from a counter: new events must not get the numbers of those that were swept. */
const EVENTS = `
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('events', 0);
CREATE TABLE events (
  seq BIGINT PRIMARY KEY,
  topic TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX events_age ON events (created_at);
`

/** Requests of a caller are counted and listed without reading their content, which may be large. */
const ASK_INDEXES = `
DROP INDEX asks_state;
CREATE INDEX asks_state ON asks (state, asked_at, id, kind, caller, expires_at);
CREATE INDEX asks_caller ON asks (caller, state, expires_at);
`

/** Messages to the people at the console; ids grow with time. */
const INBOX = `
CREATE TABLE inbox (
  id TEXT PRIMARY KEY,
  sent_at BIGINT NOT NULL,
  level TEXT NOT NULL,
  title TEXT,
  content TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  run TEXT NOT NULL,
  call_id TEXT NOT NULL,
  untrusted INTEGER NOT NULL,
  attachments TEXT NOT NULL,
  edited_at BIGINT,
  read_at BIGINT
);
`

/** Sessions of agents; `sessions` are the sign-ins of people. */
const AGENT_SESSIONS = `
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

/** The version of a canvas that is shown has a row of its own, so that a list reads no others. */
const CANVASES = `
CREATE TABLE canvases (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  hidden INTEGER NOT NULL,
  tainted INTEGER NOT NULL,
  last_version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (run, name)
);
CREATE INDEX canvases_age ON canvases (created_at);
CREATE TABLE canvas_versions (
  canvas TEXT NOT NULL,
  n BIGINT NOT NULL,
  artifact TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  call_id TEXT NOT NULL,
  PRIMARY KEY (canvas, n)
);
`

/** Runs of schedules are numbered by a counter, as events are. */
const SCHEDULES = `
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  due_at BIGINT,
  next_at BIGINT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  runs BIGINT NOT NULL,
  last_at BIGINT,
  last_status TEXT,
  UNIQUE (principal, name)
);
CREATE INDEX schedules_next ON schedules (next_at);
CREATE INDEX schedules_name ON schedules (name, principal);
CREATE TABLE schedule_runs (
  id TEXT PRIMARY KEY,
  schedule TEXT NOT NULL,
  seq BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  status TEXT NOT NULL,
  active INTEGER NOT NULL,
  missed BIGINT NOT NULL,
  run_id TEXT,
  summary TEXT,
  error TEXT,
  untrusted INTEGER NOT NULL,
  owner TEXT NOT NULL,
  leased_until BIGINT NOT NULL
);
CREATE INDEX schedule_runs_seq ON schedule_runs (schedule, seq);
CREATE INDEX schedule_runs_active ON schedule_runs (active, seq);
INSERT INTO counters (name, value) VALUES ('schedule-runs', 0);
`

/** Nothing ever wrote to `notes`; `memory_notes` replaces it. An updated note gets a new number: the last written is the newest. */
const MEMORY = `
DROP TABLE notes;
INSERT INTO counters (name, value) VALUES ('notes', 0);
CREATE TABLE memory_scopes (
  scope TEXT PRIMARY KEY,
  number BIGINT NOT NULL UNIQUE,
  notes BIGINT NOT NULL
);
CREATE TABLE memory_notes (
  seq BIGINT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  content TEXT NOT NULL,
  tags TEXT NOT NULL,
  origin TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX memory_notes_scope ON memory_notes (scope, seq);
${NOTE_INDEX}`

/** One row for each opening of a run: an earlier one is removed if the next continues it, and stays as evidence if it does not. */
const RUN_HEADS = `
CREATE TABLE run_heads (
  run TEXT NOT NULL,
  opening TEXT NOT NULL,
  seq BIGINT NOT NULL,
  hash TEXT NOT NULL,
  kept_at BIGINT NOT NULL,
  removed_by TEXT,
  PRIMARY KEY (run, opening)
);
`

/** The principal of a run, so that its runs are found without reading their calls; and the purpose of a call. */
const RUN_PRINCIPALS = `
ALTER TABLE calls ADD COLUMN purpose TEXT;
ALTER TABLE runs ADD COLUMN principal TEXT;
UPDATE runs SET principal = COALESCE(
  (SELECT MIN(principal) FROM calls WHERE calls.run = runs.run AND principal NOT LIKE '%/%'),
  (SELECT root_principal FROM agent_sessions WHERE id = runs.run AND principal LIKE '%/%')
);
CREATE INDEX runs_principal ON runs (principal, started_at);
`

/** The request of a call, as lists show it. */
const CALL_REQUESTS = 'ALTER TABLE calls ADD COLUMN request TEXT;'

/** The steps from an empty file to the current version, in order; a released step is never changed. */
export const MIGRATIONS: readonly string[] = [
  KEYS_BUDGETS_RATES,
  ASKS_GRANTS,
  TOKENS_SESSIONS,
  JOBS_SLOTS_NOTES,
  CALLS,
  EVENTS,
  ASK_INDEXES,
  INBOX,
  AGENT_SESSIONS,
  CANVASES,
  SCHEDULES,
  MEMORY,
  RUN_HEADS,
  RUN_PRINCIPALS,
  CALL_REQUESTS,
]
