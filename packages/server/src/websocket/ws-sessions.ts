import { randomBytes } from 'node:crypto'
import type { Caller } from '../auth/caller.ts'
import { type SessionContext, WsSession } from './ws-session.ts'

/** The sessions of an endpoint: connected ones, and for a while disconnected ones. */
export class WsSessions {
  readonly #context: SessionContext
  readonly #sessions = new Map<string, WsSession>()
  /** Disconnected sessions by principal, oldest first. */
  readonly #waiting = new Map<string, Set<WsSession>>()

  constructor(context: SessionContext) {
    this.#context = context
  }

  get size(): number {
    return this.#sessions.size
  }

  [Symbol.iterator](): IterableIterator<WsSession> {
    return this.#sessions.values()
  }

  open(caller: Caller): WsSession {
    const id = randomBytes(16).toString('base64url')
    const session = new WsSession(this.#context.router.others?.ownId(id) ?? id, caller, this.#context)
    this.#sessions.set(session.id, session)
    return session
  }

  /** Resumes a session of this caller; `undefined` if it has ended or belongs to another caller. */
  resume(id: string, caller: Caller): WsSession | undefined {
    const session = this.#sessions.get(id)
    if (session?.caller.name !== caller.name || this.#isOver(session)) return undefined
    this.#forget(session)
    return session
  }

  /** Keeps a disconnected session; if a principal has too many, its oldest ones end immediately. */
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

  /** Ends sessions that were disconnected for too long or keep too much. */
  sweep(): void {
    for (const waiting of this.#waiting.values()) {
      for (const session of waiting) if (this.#isOver(session)) this.end(session)
      this.#trim(waiting)
    }
  }

  #trim(waiting: ReadonlySet<WsSession>): void {
    const { waitingSessions, waitingBytes } = this.#context.limits
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
    const { clock, limits } = this.#context
    return waitingSince !== undefined && clock.now() - waitingSince > limits.sessionMs
  }
}
