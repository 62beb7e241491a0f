import { LRUCache } from 'lru-cache'
import type { KeyState, KeyStore } from '../../store.ts'

/** Idempotency keys in memory. A key under way is never forgotten; finished ones make room, the oldest first. */
export class MemoryKeys implements KeyStore {
  readonly #running = new Map<string, KeyState>()
  readonly #bounds: { readonly max: number; readonly maxSize: number }
  /** Made with the first end: it reserves room for all entries at once. */
  #finished: LRUCache<string, KeyState> | undefined

  constructor({ maxKeys, maxResultChars }: { readonly maxKeys: number; readonly maxResultChars: number }) {
    this.#bounds = { max: maxKeys, maxSize: maxResultChars }
  }

  look(key: string): KeyState | undefined {
    return this.#running.get(key) ?? this.#finished?.get(key)
  }

  claim(key: string, { argsHash, owner, now }: { argsHash: string; owner: string; now: number }): KeyState | undefined {
    const held = this.look(key)
    if (held && !(held.expiresAt !== undefined && held.expiresAt <= now)) return held
    this.#finished?.delete(key)
    this.#running.set(key, { argsHash, state: 'running', owner })
    return undefined
  }

  finish(key: string, { owner, result, expiresAt }: { owner: string; result?: string; expiresAt: number }): void {
    const running = this.#running.get(key)
    if (running?.owner !== owner) return
    this.#running.delete(key)
    // One that is larger than all room would not be kept at all, and its call executed again.
    const kept = result !== undefined && result.length <= this.#bounds.maxSize ? result : undefined
    this.#finished ??= new LRUCache(this.#bounds)
    this.#finished.set(
      key,
      { argsHash: running.argsHash, state: 'finished', owner, ...(kept !== undefined && { result: kept }), expiresAt },
      { size: Math.max(1, kept?.length ?? 1) },
    )
  }

  release(key: string, owner: string): void {
    if (this.#running.get(key)?.owner === owner) this.#running.delete(key)
  }

  sweep(now: number): void {
    for (const [key, { expiresAt }] of this.#finished?.entries() ?? [])
      if (expiresAt !== undefined && expiresAt <= now) this.#finished?.delete(key)
  }
}
