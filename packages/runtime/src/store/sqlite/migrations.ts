import type { Migrations } from '@tool-hub/core/sql'
import { CALL_SEARCH, POSTGRES_CALL_SEARCH } from '../sql/call-search.ts'

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

/** The table of the blocks. `recalled` is 1 when another process needs what is left of it. */
const BUDGET_BLOCKS = `
CREATE TABLE budget_blocks (
  account TEXT NOT NULL,
  owner TEXT NOT NULL,
  calls BIGINT NOT NULL,
  cost DOUBLE PRECISION NOT NULL,
  leased_until BIGINT NOT NULL,
  recalled INTEGER NOT NULL,
  PRIMARY KEY (account, owner)
);
CREATE INDEX budget_blocks_expiry ON budget_blocks (leased_until);
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

/** What users said, by run. */
const USER_TEXTS = `
CREATE TABLE user_texts (
  run TEXT NOT NULL,
  seq BIGINT NOT NULL,
  body TEXT NOT NULL,
  added_at BIGINT NOT NULL,
  PRIMARY KEY (run, seq)
);
CREATE INDEX user_texts_age ON user_texts (added_at);
`

/** Documents by name, with their revisions. */
const DOCUMENTS = `
CREATE TABLE documents (
  name TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  revision BIGINT NOT NULL
);
`

const TOKEN_ROTATION = `
ALTER TABLE tokens ADD COLUMN rotated_at BIGINT;
ALTER TABLE tokens ADD COLUMN previous_hash TEXT;
ALTER TABLE tokens ADD COLUMN previous_expires_at BIGINT;
ALTER TABLE tokens ADD COLUMN previous_used_at BIGINT;
CREATE UNIQUE INDEX tokens_previous_hash ON tokens (previous_hash);
`

/** How many calls of a run were denied. */
const RUN_DENIALS = `
ALTER TABLE runs ADD COLUMN denials BIGINT NOT NULL DEFAULT 0;
UPDATE runs SET denials = (SELECT COUNT(*) FROM calls WHERE calls.run = runs.run AND status = 'denied');
`

/** How often a call was tried, if more than once. */
const CALL_ATTEMPTS = `
ALTER TABLE calls ADD COLUMN attempts INTEGER;
`

/** The steps of the tables of the store itself, by version; features have steps of their own. */
export const OWN_MIGRATIONS: Migrations = {
  1: KEYS_BUDGETS_RATES,
  2: ASKS_GRANTS,
  3: TOKENS_SESSIONS,
  4: JOBS_SLOTS_NOTES,
  // The end of a run is the start of a call and its duration, which has fractions.
  5: { sqlite: CALLS, postgres: CALLS.replace('ended_at BIGINT', 'ended_at DOUBLE PRECISION') },
  6: EVENTS,
  7: ASK_INDEXES,
  13: RUN_HEADS,
  14: RUN_PRINCIPALS,
  15: CALL_REQUESTS,
  16: { sqlite: CALL_SEARCH, postgres: POSTGRES_CALL_SEARCH },
  17: USER_TEXTS,
  23: BUDGET_BLOCKS,
  24: DOCUMENTS,
  26: TOKEN_ROTATION,
  27: RUN_DENIALS,
  28: CALL_ATTEMPTS,
}
