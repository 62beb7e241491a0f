import { ToolError } from '../../errors.ts'
import type { StoredToken, TokenStore } from '../../store.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { assertRoom } from './assert-room.ts'

/** API tokens in memory. */
export class MemoryTokens implements TokenStore {
  readonly #tokens = new Map<string, StoredToken>()
  readonly #idByHash = new Map<string, string>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add(token: StoredToken): void {
    const isTaken = [...this.#tokens.values()].some(({ id, name }) => id === token.id || name === token.name)
    if (isTaken || this.#idByHash.has(token.hash))
      throw new ToolError('CONFLICT', `There is a token ${token.name} already.`, {
        hint: 'Use another name, or remove that token first.',
      })
    assertRoom(this.#tokens, this.#max, 'tokens')
    this.#tokens.set(token.id, { ...token })
    this.#idByHash.set(token.hash, token.id)
  }

  findByHash(hash: string): StoredToken | undefined {
    const id = this.#idByHash.get(hash)
    return id === undefined ? undefined : this.#tokens.get(id)
  }

  list(): readonly StoredToken[] {
    return [...this.#tokens.values()].sort((a, b) => a.createdAt - b.createdAt || compareIds(a.id, b.id))
  }

  remove(id: string): boolean {
    const token = this.#tokens.get(id)
    if (token) this.#idByHash.delete(token.hash)
    return this.#tokens.delete(id)
  }

  touch(id: string, at: number): void {
    const token = this.#tokens.get(id)
    if (token) this.#tokens.set(id, { ...token, usedAt: Math.max(at, token.usedAt ?? at) })
  }
}
