import { describe, expect, it } from 'vitest'
import type { HubOptions } from '../options.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { ApprovalDesk } from './desk.ts'

const request: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  input: { path: 'a' },
  targets: ['write:fs /a'],
  rule: 'ask write:fs',
  reason: 'it writes',
  caller: 'test',
  requests: [],
  hash: 'hash-1',
  askedAt: '2026-01-01T00:00:00.000Z',
}
const never = new AbortController().signal

function newDesk(approve?: HubOptions['approve']) {
  const clock = fakeClock()
  return { clock, desk: new ApprovalDesk({ approve, timeoutMs: 1000, clock }) }
}

describe('asking', () => {
  it('fails at once when nobody can be asked', async () => {
    const { desk, clock } = newDesk()
    await expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(clock.waiting).toBe(0)
  })

  it('gives the answer of the owner’s callback', async () => {
    const { desk, clock } = newDesk(async () => ({ decision: 'allow', by: 'ada' }))
    expect(await desk.ask(request, never)).toEqual({ decision: 'allow', by: 'ada' })
    expect(desk.list()).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('carries the reason of a no, so that it reaches the model', async () => {
    const reply: ApprovalReply = {
      decision: 'deny',
      reason: 'write to drafts/ instead',
      by: 'ada',
      remember: 'session',
    }
    const { desk } = newDesk(() => reply)
    await expect(desk.ask(request, never)).rejects.toMatchObject({
      code: 'APPROVAL_DENIED',
      message: 'ada refused notes.save: write to drafts/ instead.',
      details: { reply },
    })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['answers null', () => null],
    ['answers yes', () => 'yes'],
    ['answers true', () => true],
    ['answers too much', () => ({ decision: 'allow', forEverybody: true })],
  ])('takes a callback that %s for a no', async (_, approve) => {
    const { desk } = newDesk(approve as unknown as HubOptions['approve'])
    const error = await desk.ask(request, never).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'APPROVAL_UNAVAILABLE', cause: expect.any(Error) })
  })

  it('leaves a question to whoever watches when the callback answers nothing, and to nobody else', async () => {
    const { desk } = newDesk((() => undefined) as unknown as HubOptions['approve'])
    await expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    const stop = desk.watch(({ id }) => queueMicrotask(() => desk.reply(id, { decision: 'allow', by: 'watcher' })))
    expect(await desk.ask(request, never)).toMatchObject({ by: 'watcher' })
    stop()
    expect(await desk.ask(request, never, () => ({ decision: 'allow', by: 'caller' }))).toMatchObject({ by: 'caller' })
  })

  it('ends the wait for a callback that hangs, and ignores its late answer', async () => {
    let answer: (reply: ApprovalReply) => void = () => {}
    const { desk, clock } = newDesk(() => new Promise((resolve) => (answer = resolve)))
    const asking = expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    await clock.advance(1000)
    await asking
    answer({ decision: 'allow' })
    expect(desk.reply(request.id, { decision: 'allow' })).toBe(false)
  })

  it('stops when the caller stops, before and while it waits', async () => {
    const { desk, clock } = newDesk(() => new Promise(() => {}))
    await expect(desk.ask(request, AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
    const stopper = new AbortController()
    const asking = desk.ask(request, stopper.signal)
    stopper.abort()
    await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
    expect(desk.list()).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('shows a copy that nobody can change', async () => {
    let shown: ApprovalRequest | undefined
    const mine = structuredClone(request)
    const { desk } = newDesk((request) => {
      shown = request
      expect(() => Object.assign(request.input as object, { path: 'evil' })).toThrow(TypeError)
      return { decision: 'allow' }
    })
    await desk.ask(mine, never)
    expect(shown).toEqual(request)
    expect(mine).toEqual(request)
  })
})

describe('watching', () => {
  it('tells watchers, takes the first answer and no second', async () => {
    const { desk } = newDesk()
    const seen: string[] = []
    desk.watch(({ id }) => seen.push(id))
    const asking = desk.ask(request, never)
    expect(seen).toEqual(['approval-1'])
    expect(desk.list()).toEqual([request])
    expect(desk.reply(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(desk.reply(request.id, { decision: 'deny' })).toBe(false)
    expect(await asking).toEqual({ decision: 'allow', by: 'ada' })
    expect(desk.reply('unknown', { decision: 'allow' })).toBe(false)
  })

  it('refuses a reply that makes no sense and goes on waiting', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const asking = desk.ask(request, never)
    expect(() => desk.reply(request.id, { decision: 'maybe' } as never)).toThrow('This is not an answer')
    desk.reply(request.id, { decision: 'allow' })
    expect((await asking).decision).toBe('allow')
  })

  it('fails what waits when the last watcher leaves, not before', async () => {
    const { desk } = newDesk()
    const leave = [desk.watch(() => {}), desk.watch(() => {})]
    const asking = [request, { ...request, id: 'approval-2' }].map((each) => desk.ask(each, never))
    leave[0]?.()
    leave[0]?.()
    expect(desk.list()).toHaveLength(2)
    leave[1]?.()
    for (const each of asking) await expect(each).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('goes on waiting for the callback when the last watcher leaves', async () => {
    const { desk, clock } = newDesk(() => new Promise(() => {}))
    const asking = expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    desk.watch(() => {})()
    await clock.advance(1000)
    await asking
  })

  it('fails at once when the only watcher cannot listen', async () => {
    const { desk } = newDesk()
    const cause = new Error('screen is gone')
    desk.watch(() => {
      throw cause
    })
    await expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE', cause })
  })

  it('does not mind a watcher that cannot listen while another can', async () => {
    const { desk } = newDesk()
    desk.watch(() => {
      throw new Error('screen is gone')
    })
    desk.watch(({ id }) => desk.reply(id, { decision: 'allow' }))
    expect((await desk.ask(request, never)).decision).toBe('allow')
  })

  it('refuses a second request with the id of one that waits', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const asking = desk.ask(request, never)
    await expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'CONFLICT' })
    desk.reply(request.id, { decision: 'allow' })
    await asking
  })

  it('keeps 1,000 waiting requests apart', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const asking = Array.from({ length: 1000 }, (_, i) =>
      desk.ask({ ...request, id: `approval-${i}` }, new AbortController().signal),
    )
    for (const { id } of desk.list()) desk.reply(id, { decision: 'allow', by: id })
    const replies = await Promise.all(asking)
    expect(replies.every(({ by }, i) => by === `approval-${i}`)).toBe(true)
  })
})
