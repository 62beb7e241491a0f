import { ToolError } from '../../core/errors.ts'
import type { SignInStore, StoredSignIn, StoredToken, TokenStore } from '../../core/store.ts'
import { all, get, type Repository, run } from '../driver.ts'
import { entity } from './entity.ts'

const TOKENS = entity<StoredToken>('tokens', {
  id: 'id',
  name: 'name',
  hash: 'hash',
  body: 'body',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  usedAt: 'used_at',
})

/** API tokens. */
export const tokens: Repository<TokenStore> = {
  *add(token) {
    if ((yield* run(`${TOKENS.insert} ON CONFLICT DO NOTHING`, ...TOKENS.values(token))) > 0) return
    throw new ToolError('CONFLICT', `There is a token ${token.name} already.`, {
      hint: 'Use another name, or remove that token first.',
    })
  },
  *findByHash(hash) {
    const row = yield* get(`SELECT ${TOKENS.columns} FROM tokens WHERE hash = ?`, hash)
    return row ? TOKENS.read(row) : undefined
  },
  *list() {
    const rows = yield* all(`SELECT ${TOKENS.columns} FROM tokens ORDER BY created_at, id`)
    return rows.map((row) => TOKENS.read(row))
  },
  *remove(id) {
    return (yield* run('DELETE FROM tokens WHERE id = ?', id)) > 0
  },
  *touch(id, at) {
    yield* run('UPDATE tokens SET used_at = ? WHERE id = ? AND (used_at IS NULL OR used_at < ?)', at, id, at)
  },
}

/** The table was named before agents had sessions: theirs is `agent_sessions`. */
const SIGN_INS = entity<StoredSignIn>('sessions', {
  hash: 'hash',
  token: 'token',
  body: 'body',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
})

/** Sign-ins of the console. */
export const signIns: Repository<SignInStore> = {
  *add(signIn) {
    yield* run(SIGN_INS.upsert('hash'), ...SIGN_INS.values(signIn))
  },
  *find(hash, now) {
    const row = yield* get(`SELECT ${SIGN_INS.columns} FROM sessions WHERE hash = ? AND expires_at > ?`, hash, now)
    return row ? SIGN_INS.read(row) : undefined
  },
  *remove(hash) {
    yield* run('DELETE FROM sessions WHERE hash = ?', hash)
  },
  *removeOf(token) {
    yield* run('DELETE FROM sessions WHERE token = ?', token)
  },
}
