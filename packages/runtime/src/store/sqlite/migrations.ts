import type { TableSource } from '@tool-hub/core/sql'
import { APPROVALS, GRANTS } from '../sql/approvals.ts'
import { CALL_SEARCH, POSTGRES_CALL_SEARCH } from '../sql/call-search.ts'
import { CALLS, RUNS } from '../sql/calls.ts'
import { DOCUMENTS } from '../sql/documents.ts'
import { COUNTERS, EVENTS } from '../sql/events.ts'
import { BUDGET_BLOCKS, BUDGETS, KEYS, RATES } from '../sql/limits.ts'
import { PROCESSES, RUN_STATES, SETTINGS } from '../sql/processes.ts'
import { HEADS, JOBS, SIGN_INS, SLOTS, TOKENS, USER_TEXTS } from '../sql/repositories.ts'
import { BLOB_PARTS, BLOB_USES, BLOBS, SEGMENTS } from '../sql/segments.ts'
import { WORKER_CALLS } from '../sql/worker-calls.ts'

/** A table of version 4 that nothing ever wrote to; version 12 removes it. */
const NOTES = `
CREATE TABLE notes (
  id TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  content TEXT NOT NULL,
  searched TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX notes_scope ON notes (scope, created_at);
`

const FIRST_EVENT = "INSERT INTO counters (name, value) VALUES ('events', 0);\n"

/** Requests of a caller are counted and listed without reading their content, which may be large. */
const ASK_INDEXES = `
DROP INDEX asks_state;
CREATE INDEX asks_state ON asks (state, asked_at, id, kind, caller, expires_at);
CREATE INDEX asks_caller ON asks (caller, state, expires_at);
`

/** The principal of a run, so that its runs are found without reading their calls. */
const RUN_PRINCIPALS = `
UPDATE runs SET principal = COALESCE(
  (SELECT MIN(principal) FROM calls WHERE calls.run = runs.run AND principal NOT LIKE '%/%'),
  (SELECT root_principal FROM agent_sessions WHERE id = runs.run AND principal LIKE '%/%')
);
CREATE INDEX runs_principal ON runs (principal, started_at);
`

const RUN_DENIALS = `
UPDATE runs SET denials = (SELECT COUNT(*) FROM calls WHERE calls.run = runs.run AND status = 'denied');
`

/**
 * The tables of the store itself, in the order in which they are created, and the SQL that changed tables which databases
 * had; features have tables of their own.
 */
export const OWN_TABLES: readonly TableSource[] = [
  ...[KEYS, BUDGETS, RATES, APPROVALS, GRANTS, TOKENS, SIGN_INS, JOBS, SLOTS],
  { migrations: { 4: NOTES } },
  ...[CALLS, RUNS, COUNTERS],
  { migrations: { 6: FIRST_EVENT } },
  EVENTS,
  { migrations: { 7: ASK_INDEXES } },
  HEADS,
  { migrations: { 14: RUN_PRINCIPALS } },
  { migrations: { 16: { sqlite: CALL_SEARCH, postgres: POSTGRES_CALL_SEARCH } } },
  ...[USER_TEXTS, PROCESSES, RUN_STATES, SETTINGS, SEGMENTS, BLOBS, BLOB_PARTS, BLOB_USES],
  ...[WORKER_CALLS, BUDGET_BLOCKS, DOCUMENTS],
  { migrations: { 27: RUN_DENIALS } },
]
