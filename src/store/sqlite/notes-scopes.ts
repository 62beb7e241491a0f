import type { Connection } from './connection.ts'
import { ALL_SCOPES } from './notes-index.ts'

/** The scopes that hold notes. */
export interface NotesScopes {
  /** One note more; gives back how many there are with it. */
  enter(scope: string): ScopeRow
  leave(scope: string): void
  /** The numbers of those that hold some, and how many all of them hold. */
  numbers(scopes: readonly string[] | 'all'): { readonly numbers: readonly number[]; readonly notes: number }
}

interface ScopeRow {
  readonly number: number
  readonly notes: number
}

/** The scopes that hold notes: each has a number, and knows how many it holds. */
export function createNotesScopes(connection: Connection): NotesScopes {
  const enter = connection.statement<ScopeRow>(
    `INSERT INTO memory_scopes (scope, number, notes)
     VALUES (?, (SELECT COALESCE(MAX(s.number), ${ALL_SCOPES}) + 1 FROM memory_scopes s), 1)
     ON CONFLICT (scope) DO UPDATE SET notes = memory_scopes.notes + 1 RETURNING number, notes`,
  )
  const leave = connection.statement('UPDATE memory_scopes SET notes = notes - 1 WHERE scope = ?')
  const drop = connection.statement('DELETE FROM memory_scopes WHERE scope = ? AND notes <= 0')
  const find = connection.statement<ScopeRow>('SELECT number, notes FROM memory_scopes WHERE scope = ?')
  const count = connection.statement<{ notes: number | null }>('SELECT SUM(notes) AS notes FROM memory_scopes')
  return {
    enter: (scope) => enter.get(scope)!,
    leave(scope) {
      leave.run(scope)
      drop.run(scope)
    },
    numbers(scopes) {
      if (scopes === 'all') return { numbers: [ALL_SCOPES], notes: count.get()?.notes ?? 0 }
      const rows = scopes.flatMap((scope) => find.get(scope) ?? [])
      return { numbers: rows.map(({ number }) => number), notes: rows.reduce((sum, { notes }) => sum + notes, 0) }
    },
  }
}
