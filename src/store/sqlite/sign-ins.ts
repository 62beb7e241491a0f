import type { SignInStore } from '../../store.ts'
import type { Connection } from './connection.ts'

interface SessionRow {
  readonly hash: string
  readonly token: string
  readonly body: string
  readonly created_at: number
  readonly expires_at: number
}

/** Sign-ins in the file. */
export function createSignIns(connection: Connection): SignInStore {
  const add = connection.statement(
    `INSERT INTO sessions (hash, token, body, created_at, expires_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (hash) DO UPDATE SET token = excluded.token, body = excluded.body,
     created_at = excluded.created_at, expires_at = excluded.expires_at`,
  )
  const find = connection.statement<SessionRow>(
    'SELECT hash, token, body, created_at, expires_at FROM sessions WHERE hash = ? AND expires_at > ?',
  )
  const remove = connection.statement('DELETE FROM sessions WHERE hash = ?')
  const removeOf = connection.statement('DELETE FROM sessions WHERE token = ?')
  return {
    add({ hash, token, body, createdAt, expiresAt }) {
      add.run(hash, token, body, createdAt, expiresAt)
    },
    find(hash, now) {
      const row = find.get(hash, now)
      if (!row) return undefined
      return { hash, token: row.token, body: row.body, createdAt: row.created_at, expiresAt: row.expires_at }
    },
    remove(hash) {
      remove.run(hash)
    },
    removeOf(token) {
      removeOf.run(token)
    },
  }
}
