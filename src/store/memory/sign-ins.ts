import type { SignInStore, StoredSignIn } from '../../store.ts'
import { assertRoom } from './assert-room.ts'

/** Sign-ins in memory. */
export class MemorySignIns implements SignInStore {
  readonly #sessions = new Map<string, StoredSignIn>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add(session: StoredSignIn): void {
    if (!this.#sessions.has(session.hash)) assertRoom(this.#sessions, this.#max, 'sessions')
    this.#sessions.set(session.hash, { ...session })
  }

  find(hash: string, now: number): StoredSignIn | undefined {
    const session = this.#sessions.get(hash)
    return session && session.expiresAt > now ? session : undefined
  }

  remove(hash: string): void {
    this.#sessions.delete(hash)
  }

  removeOf(token: string): void {
    for (const [hash, session] of this.#sessions) if (session.token === token) this.#sessions.delete(hash)
  }

  sweep(now: number): void {
    for (const [hash, { expiresAt }] of this.#sessions) if (expiresAt <= now) this.#sessions.delete(hash)
  }
}
