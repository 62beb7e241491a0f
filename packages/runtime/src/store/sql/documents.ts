import { type DocumentStore, type StoredDocument, ToolError } from '@tool-hub/core'
import { column, defineTable, get, type Repository, run } from '@tool-hub/core/sql'

/** Documents by name, with their revisions. */
export const DOCUMENTS = defineTable('documents', 24, {
  name: column.text({ key: true }),
  body: column.text(),
  revision: column.bigint(),
})

const MAX_CHARS = 4_000_000

const READ = 'SELECT revision, CASE WHEN revision = ? THEN NULL ELSE body END AS body FROM documents WHERE name = ?'
const ADD = 'INSERT INTO documents (name, body, revision) VALUES (?, ?, 1) ON CONFLICT (name) DO NOTHING'
const REPLACE = 'UPDATE documents SET body = ?, revision = revision + 1 WHERE name = ? AND revision = ?'

/** Documents by name. */
export const documents: Repository<DocumentStore> = {
  *read(name, known = 0) {
    const row = yield* get<{ readonly revision: number; readonly body: string | null }>(READ, known, name)
    if (!row) return undefined
    const { revision, body } = row
    return (body === null ? { revision } : { revision, body }) satisfies StoredDocument
  },
  *write(name, body, revision) {
    if (body.length > MAX_CHARS) throw tooLarge(name, body.length)
    return (yield* revision === 0 ? run(ADD, name, body) : run(REPLACE, body, name, revision)) === 1
  },
}

function tooLarge(name: string, chars: number): ToolError {
  return new ToolError(
    'FILE_TOO_LARGE',
    `The document ${name} would have ${chars} characters, the limit is ${MAX_CHARS}.`,
    { hint: 'Remove what is not needed any more from it.' },
  )
}
