import type { KeyState, KeyStore } from '../../store.ts'
import type { Connection } from './connection.ts'

interface KeyRow {
  readonly args_hash: string
  readonly state: KeyState['state']
  readonly owner: string
  readonly result: string | null
  readonly expires_at: number | null
}

/** Idempotency keys in the file. */
export function createKeys(connection: Connection): KeyStore {
  const find = connection.statement<KeyRow>(
    'SELECT args_hash, state, owner, result, expires_at FROM idempotency_keys WHERE name = ?',
  )
  const claim = connection.statement(
    `INSERT INTO idempotency_keys (name, args_hash, state, owner, result, expires_at)
     VALUES (?, ?, 'running', ?, NULL, NULL)
     ON CONFLICT (name) DO UPDATE
     SET args_hash = excluded.args_hash, state = excluded.state, owner = excluded.owner, result = NULL, expires_at = NULL
     WHERE idempotency_keys.state = 'finished' AND idempotency_keys.expires_at <= ?`,
  )
  const finish = connection.statement(
    `UPDATE idempotency_keys SET state = 'finished', result = ?, expires_at = ?
     WHERE name = ? AND owner = ? AND state = 'running'`,
  )
  const release = connection.statement(
    `DELETE FROM idempotency_keys WHERE name = ? AND owner = ? AND state = 'running'`,
  )
  const look = (key: string) => {
    const row = find.get(key)
    return row && toState(row)
  }
  return {
    look,
    claim(key, { argsHash, owner, now }) {
      // The holder may release it between the two looks; then it is free.
      for (;;) {
        if (claim.run(key, argsHash, owner, now) === 1) return undefined
        const held = look(key)
        if (held) return held
      }
    },
    finish(key, { owner, result, expiresAt }) {
      finish.run(result, expiresAt, key, owner)
    },
    release(key, owner) {
      release.run(key, owner)
    },
  }
}

function toState({ args_hash, state, owner, result, expires_at }: KeyRow): KeyState {
  return {
    argsHash: args_hash,
    state,
    owner,
    ...(result !== null && { result }),
    ...(expires_at !== null && { expiresAt: expires_at }),
  }
}
