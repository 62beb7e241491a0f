import type { GrantStore, StoredGrant } from '../../store.ts'
import type { Connection } from './connection.ts'

interface GrantRow {
  readonly id: string
  readonly tool: string
  readonly body: string
  readonly created_at: number
  readonly expires_at: number | null
}

/** Remembered answers in the file. */
export function createGrants(connection: Connection): GrantStore {
  const put = connection.statement(
    `INSERT INTO grants (id, tool, body, created_at, expires_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET tool = excluded.tool, body = excluded.body,
     created_at = excluded.created_at, expires_at = excluded.expires_at`,
  )
  const all = connection.statement<GrantRow>(
    'SELECT id, tool, body, created_at, expires_at FROM grants ORDER BY created_at, id',
  )
  const ofTool = connection.statement<GrantRow>(
    'SELECT id, tool, body, created_at, expires_at FROM grants WHERE tool = ? ORDER BY created_at, id',
  )
  const remove = connection.statement('DELETE FROM grants WHERE id = ?')
  return {
    put({ id, tool, body, createdAt, expiresAt }) {
      put.run(id, tool, body, createdAt, expiresAt)
    },
    list({ tool } = {}) {
      return (tool === undefined ? all.all() : ofTool.all(tool)).map(toGrant)
    },
    remove: (id) => remove.run(id) > 0,
  }
}

function toGrant({ id, tool, body, created_at, expires_at }: GrantRow): StoredGrant {
  return { id, tool, body, createdAt: created_at, ...(expires_at !== null && { expiresAt: expires_at }) }
}
