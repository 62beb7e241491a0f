import type { Migrations, Queries, StoreOfFeature, TableSource } from '@tool-hub/core/sql'
import { APPROVALS, GRANTS } from './sql/approvals.ts'
import { CALL_SEARCH, POSTGRES_CALL_SEARCH } from './sql/call-search.ts'
import { CALLS, RUNS } from './sql/calls.ts'
import { COUNTERS, EVENTS } from './sql/events.ts'
import { BUDGET_BLOCKS, BUDGETS, KEYS, RATES } from './sql/limits.ts'
import { DOCUMENTS, HEADS, JOBS, SIGN_INS, SLOTS, TOKENS, USER_TEXTS } from './sql/repositories.ts'

/** The option of every store that says whose tables it has, in addition to its own. */
export interface FeatureTables {
  /** What features keep in the store. */
  readonly features: readonly StoreOfFeature[]
}

/** The tables of a store: our own, and those that features add. */
export interface StoreTables extends FeatureTables {
  /** The steps from an empty file to the current version, in order; a released step is never changed. */
  readonly sqlite: readonly string[]
  /** The same versions for PostgreSQL. */
  readonly postgres: readonly string[]
}

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
  ...[USER_TEXTS, BUDGET_BLOCKS, DOCUMENTS],
  { migrations: { 27: RUN_DENIALS } },
]

/** The tables of a store with these features. */
export function storeTables(features: readonly StoreOfFeature[]): StoreTables {
  const sources = [...OWN_TABLES, ...features.flatMap(({ tables }) => tables)].map(({ migrations }) => migrations)
  return { features, sqlite: stepsFor('sqlite', sources), postgres: stepsFor('postgres', sources).map(toPostgres) }
}

function stepsFor(dialect: Queries['dialect'], sources: readonly Migrations[]): string[] {
  const latest = Math.max(...sources.flatMap((source) => Object.keys(source).map(Number)))
  return Array.from({ length: latest }, (_, index) =>
    sources
      .map((source) => {
        const step = source[index + 1] ?? ''
        return typeof step === 'string' ? step : step[dialect]
      })
      .join(''),
  )
}

/** Text is ordered by its bytes, as SQLite does, in whatever language the database is. */
function toPostgres(step: string): string {
  return step.replaceAll(/\bTEXT\b(?!\[)/g, 'TEXT COLLATE "C"').replaceAll(/\bBLOB\b/g, 'BYTEA')
}
