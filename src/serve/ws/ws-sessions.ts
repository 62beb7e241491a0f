import { randomBytes } from 'node:crypto'
import type { AdmittedVisitor } from '../auth/admitted-visitor.ts'
import { type SessionParts, WsSession } from './ws-session.ts'

/** The sessions of a door: those that are connected, and for a while those that were. */
export class WsSessions {
  readonly #parts: SessionParts
  readonly #sessions = new Map<string, WsSession>()

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#sessions.size
  }

  [Symbol.iterator](): IterableIterator<WsSession> {
    return this.#sessions.values()
  }

  open(visitor: AdmittedVisitor): WsSession {
    const session = new WsSession(randomBytes(16).toString('base64url'), visitor, this.#parts)
    this.#sessions.set(session.id, session)
    return session
  }

  /** One that this visitor may go on with; another's is as unknown as one that is over. */
  find(id: string, visitor: AdmittedVisitor): WsSession | undefined {
    const session = this.#sessions.get(id)
    return session && session.visitor.name === visitor.name && !this.#isOver(session) ? session : undefined
  }

  end(session: WsSession): void {
    if (this.#sessions.delete(session.id)) session.end()
  }

  /** Ends those that nobody came back to, and of a principal that left too many, the ones it left first. */
  sweep(): void {
    const { waitingSessions, waitingBytes } = this.#parts.limits
    const used = new Map<string, { sessions: number; bytes: number }>()
    const waiting = [...this.#sessions.values()].filter(({ waitingSince }) => waitingSince !== undefined)
    for (const session of waiting.sort((a, b) => b.waitingSince! - a.waitingSince!)) {
      const { name } = session.visitor
      const { sessions, bytes } = used.get(name) ?? { sessions: 0, bytes: 0 }
      const total = { sessions: sessions + 1, bytes: bytes + session.keptBytes }
      const isTooMuch = total.sessions > waitingSessions || total.bytes > waitingBytes
      if (isTooMuch || this.#isOver(session)) this.end(session)
      else used.set(name, total)
    }
  }

  #isOver({ waitingSince }: WsSession): boolean {
    const { clock, limits } = this.#parts
    return waitingSince !== undefined && clock.now() - waitingSince > limits.sessionMs
  }
}
