import type { HeadStore, StoredHead } from '../../store.ts'
import type { Connection } from './connection.ts'

interface Row {
  readonly run: string
  readonly opening: string
  readonly seq: number
  readonly hash: string
  readonly kept_at: number
  readonly removed_by: string | null
}

/** Heads of run records in the file. */
export function createHeads(connection: Connection): HeadStore {
  const replace = connection.statement('DELETE FROM run_heads WHERE run = ? AND seq = ? AND hash = ? AND opening <> ?')
  const put = connection.statement(
    `INSERT INTO run_heads (run, opening, seq, hash, kept_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (run, opening) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, kept_at = excluded.kept_at
     WHERE excluded.seq >= run_heads.seq`,
  )
  const all = connection.statement<Row>('SELECT * FROM run_heads ORDER BY run, kept_at, seq')
  const ofRun = connection.statement<Row>('SELECT * FROM run_heads WHERE run = ? ORDER BY kept_at, seq')
  const remove = connection.statement('UPDATE run_heads SET removed_by = ? WHERE run = ? AND removed_by IS NULL')
  const tell = connection.statement(
    `INSERT INTO run_heads (run, opening, seq, hash, kept_at, removed_by) VALUES (?, '', 0, '', ?, ?)
     ON CONFLICT (run, opening) DO NOTHING`,
  )
  return {
    put({ run, opening, seq, hash, at }, continues) {
      connection.transaction(() => {
        if (continues) replace.run(run, continues.seq, continues.hash, opening)
        put.run(run, opening, seq, hash, at)
      })
    },
    list: ({ run } = {}) => (run === undefined ? all.all() : ofRun.all(run)).map(toHead),
    remove(run, { by, at }) {
      connection.transaction(() => {
        // A run of which no head was kept is on record as removed, too.
        if (remove.run(by, run) === 0) tell.run(run, at, by)
      })
    },
  }
}

function toHead({ run, opening, seq, hash, kept_at: at, removed_by: removedBy }: Row): StoredHead {
  return { run, opening, seq, hash, at, ...(removedBy !== null && { removedBy }) }
}
