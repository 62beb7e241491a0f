import type { Scope } from '@tool-hub/core/protocol/shapes'
import { describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../testing/src/fake-clock.ts'
import { localRouter } from '../call-router.ts'
import { WS_LIMITS, type WsLimits } from './messages.ts'
import { Presence } from './session-watch.ts'
import type { WsSession } from './ws-session.ts'
import { WsSessions } from './ws-sessions.ts'

const caller = (name: string) => ({ name, scopes: new Set<Scope>(['read']), hub: {} }) as never
const ADA = caller('ada')

function sessionsOf(limits: Partial<WsLimits> = {}, clock: FakeClock = fakeClock()) {
  const listeners = new Set<unknown>()
  const events = {
    publish: () => {},
    subscribe: (listener: unknown) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const presence = new Presence(events, clock)
  const own = { ...WS_LIMITS, ...limits }
  const context = { events, approvals: {} as never, presence, clock, limits: own, router: localRouter }
  const sessions = new WsSessions(context)
  /** Opens one that keeps so many bytes, and is left. */
  const leave = (bytes = 0) => {
    const session = sessions.open(ADA)
    if (bytes > 0) keep(session, bytes)
    session.waitingSince = clock.now()
    sessions.leave(session)
    return session
  }
  return { clock, listeners, sessions, leave }
}

/** Makes a session keep one message of so many bytes. */
function keep(session: WsSession, bytes: number): void {
  const message = { type: 'done', id: '', outcome: '' } as const
  const bare = JSON.stringify({ seq: 1, ...message }).length
  session.send({ ...message, outcome: 'x'.repeat(bytes - bare) })
}

describe('the sessions of an endpoint', () => {
  it('have ids that nobody guesses', () => {
    const { sessions } = sessionsOf()
    const ids = [sessions.open(ADA).id, sessions.open(ADA).id]
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/)
    expect(new Set(ids).size).toBe(2)
    expect(Array.from(sessions, ({ id }) => id)).toEqual(ids)
  })

  it('are resumed by their principal alone', () => {
    const { sessions, leave } = sessionsOf()
    const session = leave()
    expect(sessions.resume('none', ADA)).toBeUndefined()
    expect(sessions.resume(session.id, caller('bob'))).toBeUndefined()
    expect(sessions.resume(session.id, ADA)).toBe(session)
  })

  it('are resumed until their time is over', async () => {
    const { sessions, leave, clock } = sessionsOf({ sessionMs: 1_000 })
    const session = leave()
    await clock.advance(1_000)
    expect(sessions.resume(session.id, ADA)).toBe(session)
    session.waitingSince = clock.now() - 1_001
    expect(sessions.resume(session.id, ADA)).toBeUndefined()
    session.waitingSince = undefined
    expect(sessions.resume(session.id, ADA)).toBe(session)
  })

  it('end once, with what they watch', () => {
    const { sessions, listeners } = sessionsOf()
    const session = sessions.open(ADA)
    session.handle({ type: 'watch', events: ['tools-changed'] })
    expect([listeners.size, sessions.size]).toEqual([1, 1])
    sessions.end(session)
    expect([listeners.size, sessions.size]).toEqual([0, 0])
    session.handle({ type: 'watch', events: ['tools-changed'] })
    sessions.end(session)
    expect(listeners.size).toBe(1)
  })
})

describe('sessions that wait for their connection', () => {
  const isThere = (sessions: WsSessions, session: WsSession) => [...sessions].includes(session)

  it('are so many of one principal, and the first that was left ends', () => {
    const { sessions, leave } = sessionsOf({ waitingSessions: 2 })
    const left = [leave(), leave()]
    expect(left.map((session) => isThere(sessions, session))).toEqual([true, true])
    left.push(leave())
    expect(left.map((session) => isThere(sessions, session))).toEqual([false, true, true])
  })

  it('are counted apart by principal, and not once they are resumed', () => {
    const { sessions, leave } = sessionsOf({ waitingSessions: 2 })
    const resumed = leave()
    sessions.resume(resumed.id, ADA)
    const bobs = sessions.open(caller('bob'))
    sessions.leave(bobs)
    const left = [leave(), leave()]
    expect([resumed, bobs, ...left].map((session) => isThere(sessions, session))).toEqual(Array(4).fill(true))
  })

  it('keep so much together, and the first that was left ends', () => {
    const { sessions, leave } = sessionsOf({ waitingBytes: 1_000 })
    const left = [leave(500), leave(500)]
    expect(left.map((session) => isThere(sessions, session))).toEqual([true, true])
    left.push(leave(100), leave(400))
    expect(left.map((session) => isThere(sessions, session))).toEqual([false, true, true, true])
  })

  it('end when what they keep has grown too much, at the next sweep', () => {
    const { sessions, leave } = sessionsOf({ waitingBytes: 1_000 })
    const left = [leave(500), leave(500)]
    keep(left[1]!, 100)
    sessions.sweep()
    expect(left.map((session) => isThere(sessions, session))).toEqual([false, true])
  })

  it('end when nobody came back, at the next sweep', async () => {
    const { sessions, leave, clock } = sessionsOf({ sessionMs: 1_000 })
    const early = leave()
    await clock.advance(1)
    const late = leave()
    await clock.advance(1_000)
    sessions.sweep()
    expect([early, late].map((session) => isThere(sessions, session))).toEqual([false, true])
  })
})
