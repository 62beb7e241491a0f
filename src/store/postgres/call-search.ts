import type { CallSearch } from '../sql/calls.ts'

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
