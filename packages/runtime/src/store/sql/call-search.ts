import { all, one, run } from '@tool-hub/core/sql'
import type { CallSearch } from './calls.ts'

/**
 * Finds calls by a part of their text with the trigrams of FTS5. Text is folded before it comes here. Positions are not
 * kept, which makes a row 10 us cheaper to write and the index a third as large; so a search finds the calls that have
 * all trigrams of a word, and the text itself decides.
 *
 * The table of calls gets numbers of its own, because VACUUM may change those that SQLite gives. The index of statuses
 * finds the calls of a rare one.
 */
export const CALL_SEARCH = `
CREATE TABLE numbered_calls (
  number INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL UNIQUE,
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
  searched TEXT NOT NULL,
  purpose TEXT,
  request TEXT
);
INSERT INTO numbered_calls SELECT NULL, * FROM calls ORDER BY started_at;
DROP TABLE calls;
ALTER TABLE numbered_calls RENAME TO calls;
CREATE INDEX calls_time ON calls (started_at);
CREATE INDEX calls_run ON calls (run, started_at);
CREATE INDEX calls_tool ON calls (tool, started_at);
CREATE INDEX calls_caller ON calls (caller, started_at);
CREATE INDEX calls_failed ON calls (failed, started_at);
CREATE INDEX calls_status ON calls (status, started_at);
CREATE VIRTUAL TABLE call_search USING fts5(
  text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
INSERT INTO call_search (rowid, text) SELECT number, searched FROM calls;
CREATE TRIGGER calls_removed AFTER DELETE ON calls BEGIN
  DELETE FROM call_search WHERE rowid = old.number;
END;
`

/**
 * Not by a trigger or INSERT … SELECT, for which SQLite makes a savepoint, and FTS5 then writes its memory to the file for
 * every row instead of once in a transaction: 110 us instead of 50 us a row.
 */
const ADD = 'INSERT INTO call_search (rowid, text) VALUES (?, ?)'
const REMOVE = 'DELETE FROM call_search WHERE rowid = ?'
const NUMBER = 'SELECT number FROM calls WHERE call_id = ?'
const FOUND = 'SELECT rowid FROM call_search WHERE call_search MATCH ? LIMIT ?'
/** More calls than these are found faster by looking at the newest ones: a page of them is soon full. */
const MAX_NARROWED = 2_000
const TRIGRAM_LENGTH = 3

/** The search of a SQLite database. */
export const sqliteCallSearch: CallSearch = {
  *add(callId, text) {
    const { number } = yield* one<{ readonly number: number }>(NUMBER, callId)
    yield* run(ADD, number, text)
  },
  *replace(callId, text) {
    const { number } = yield* one<{ readonly number: number }>(NUMBER, callId)
    yield* run(REMOVE, number)
    yield* run(ADD, number, text)
  },
  *narrow(word) {
    const characters = [...word]
    if (characters.length < TRIGRAM_LENGTH) return undefined
    const trigrams = new Set<string>()
    for (let end = TRIGRAM_LENGTH; end <= characters.length; end++)
      trigrams.add(characters.slice(end - TRIGRAM_LENGTH, end).join(''))
    const query = [...trigrams].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ')
    if ((yield* all(FOUND, query, MAX_NARROWED + 1)).length > MAX_NARROWED) return undefined
    return {
      // CROSS JOIN: the order is fixed, and every call is looked up by its number.
      from: 'call_search CROSS JOIN calls ON calls.number = call_search.rowid',
      where: 'call_search MATCH ?',
      value: query,
    }
  },
}

/**
 * Finds calls by a part of their text with the trigrams of pg_trgm. Who may not create the extension has no index: the
 * search then looks at every call, and finds the same.
 */
export const POSTGRES_CALL_SEARCH = `
CREATE INDEX calls_status ON calls (status, started_at);
DO $$
DECLARE place NAME;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
  SELECT nspname INTO place FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX calls_searched ON calls USING gin (searched %I.gin_trgm_ops)', place);
EXCEPTION WHEN OTHERS THEN
  RAISE DEBUG 'Searches for calls have no index: %', SQLERRM;
END $$;
`

/** PostgreSQL keeps the index itself, and chooses when to use it. */
export const postgresCallSearch: CallSearch = {
  *add() {},
  *replace() {},
  // biome-ignore lint/correctness/useYield: no query is needed.
  *narrow() {
    return undefined
  },
}
