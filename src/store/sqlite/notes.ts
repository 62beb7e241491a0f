import type { MemoryStore, Note } from '../../store.ts'
import { pageSize } from '../rules/page-size.ts'
import { foldText, foldWords } from '../rules/search-text.ts'
import type { Connection } from './connection.ts'
import { type Condition, filteredQuery } from './filtered-query.ts'
import { likePattern } from './like-pattern.ts'

interface NoteRow {
  readonly id: string
  readonly scope: string
  readonly content: string
  readonly created_at: number
}

/** Notes of agents in the file. */
export function createNotes(connection: Connection): MemoryStore {
  const put = connection.statement(
    `INSERT INTO notes (id, scope, content, searched, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET scope = excluded.scope, content = excluded.content,
     searched = excluded.searched, created_at = excluded.created_at`,
  )
  const find = connection.statement<NoteRow>('SELECT id, scope, content, created_at FROM notes WHERE id = ?')
  const search = filteredQuery<NoteRow>(connection, {
    select: 'SELECT id, scope, content, created_at FROM notes',
    order: 'created_at DESC, id DESC',
  })
  const remove = connection.statement('DELETE FROM notes WHERE id = ?')
  return {
    put({ id, scope, text, createdAt }) {
      put.run(id, scope, text, foldText(text), createdAt)
    },
    find(id) {
      const row = find.get(id)
      return row && toNote(row)
    },
    search({ scope, words, limit }) {
      const holds = foldWords(words).map((word): Condition => [`searched LIKE ? ESCAPE '!'`, likePattern(word)])
      return search([['scope = ?', scope], ...holds], pageSize(limit)).map(toNote)
    },
    remove: (id) => remove.run(id) > 0,
  }
}

function toNote({ id, scope, content, created_at }: NoteRow): Note {
  return { id, scope, text: content, createdAt: created_at }
}
