import { randomBytes } from 'node:crypto'
import type { AuthenticatedCaller } from '../auth/caller.ts'
import { type SessionParts, WsSession } from './ws-session.ts'

/** The sessions of a door: those that are connected, and for a while those that were. */
export class WsSessions {
  readonly #parts: SessionParts
  readonly #sessions = new Map<string, WsSession>()
  /** Those that wait for their connection, by principal; the one left first is first. */
  readonly #waiting = new Map<string, Set<WsSession>>()

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#sessions.size
  }

  [Symbol.iterator](): IterableIterator<WsSession> {
    return this.#sessions.values()
  }

  open(caller: AuthenticatedCaller): WsSession {
    const session = new WsSession(randomBytes(16).toString('base64url'), caller, this.#parts)
    this.#sessions.set(session.id, session)
    return session
  }

  /** One that this caller may go on with, and now does; another's is as unknown as one that is over. */
  resume(id: string, caller: AuthenticatedCaller): WsSession | undefined {
    const session = this.#sessions.get(id)
    if (session?.caller.name !== caller.name || this.#isOver(session)) return undefined
    this.#forget(session)
    return session
  }

  /** Keeps one whose connection is gone; of a principal that left too many, those it left first are over at once. */
  leave(session: WsSession): void {
    const { name } = session.caller
    const waiting = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, waiting.add(session))
    this.#trim(waiting)
  }

  end(session: WsSession): void {
    this.#forget(session)
    if (this.#sessions.delete(session.id)) session.end()
  }

  /** Ends those that nobody came back to, and those that keep too much by now. */
  sweep(): void {
    for (const waiting of this.#waiting.values()) {
      for (const session of waiting) if (this.#isOver(session)) this.end(session)
      this.#trim(waiting)
    }
  }

  #trim(waiting: ReadonlySet<WsSession>): void {
    const { waitingSessions, waitingBytes } = this.#parts.limits
    let bytes = 0
    for (const { keptBytes } of waiting) bytes += keptBytes
    for (const session of waiting) {
      if (waiting.size <= waitingSessions && bytes <= waitingBytes) return
      bytes -= session.keptBytes
      this.end(session)
    }
  }

  #forget(session: WsSession): void {
    const { name } = session.caller
    const waiting = this.#waiting.get(name)
    waiting?.delete(session)
    if (waiting?.size === 0) this.#waiting.delete(name)
  }

  #isOver({ waitingSince }: WsSession): boolean {
    const { clock, limits } = this.#parts
    return waitingSince !== undefined && clock.now() - waitingSince > limits.sessionMs
  }
}
