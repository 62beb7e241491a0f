import { ToolError } from '../../errors.ts'
import type { StoredToken, TokenStore } from '../../store.ts'
import type { Connection } from './connection.ts'
import { isDuplicate } from './store-error.ts'

interface TokenRow {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly body: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly used_at: number | null
}

/** API tokens in the file. */
export function createTokens(connection: Connection): TokenStore {
  const add = connection.statement(
    'INSERT INTO tokens (id, name, hash, body, created_at, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const find = connection.statement<TokenRow>(
    'SELECT id, name, hash, body, created_at, expires_at, used_at FROM tokens WHERE hash = ?',
  )
  const list = connection.statement<TokenRow>(
    'SELECT id, name, hash, body, created_at, expires_at, used_at FROM tokens ORDER BY created_at, id',
  )
  const remove = connection.statement('DELETE FROM tokens WHERE id = ?')
  const touch = connection.statement('UPDATE tokens SET used_at = ? WHERE id = ? AND (used_at IS NULL OR used_at < ?)')
  return {
    add({ id, name, hash, body, createdAt, expiresAt, usedAt }) {
      try {
        add.run(id, name, hash, body, createdAt, expiresAt, usedAt)
      } catch (error) {
        if (!isDuplicate(error)) throw error
        throw new ToolError('CONFLICT', `There is a token ${name} already.`, {
          hint: 'Use another name, or remove that token first.',
        })
      }
    },
    findByHash(hash) {
      const row = find.get(hash)
      return row && toToken(row)
    },
    list: () => list.all().map(toToken),
    remove: (id) => remove.run(id) > 0,
    touch(id, at) {
      touch.run(at, id, at)
    },
  }
}

function toToken({ id, name, hash, body, created_at, expires_at, used_at }: TokenRow): StoredToken {
  return {
    id,
    name,
    hash,
    body,
    createdAt: created_at,
    ...(expires_at !== null && { expiresAt: expires_at }),
    ...(used_at !== null && { usedAt: used_at }),
  }
}
