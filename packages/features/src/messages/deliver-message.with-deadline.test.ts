import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { withDeadline } from './deliver-message.ts'
import { LOOK_THERE } from './send-errors.ts'

describe('a message with a deadline', () => {
  it('that goes out in time leaves no timer behind', async () => {
    const clock = fakeClock()
    expect(await withDeadline({ timeoutMs: 50, signals: [], clock, channel: 'ops' }, async () => 'sent')).toBe('sent')
    expect(clock.waiting).toBe(0)
  })

  it('that takes longer is given up, and its fate is unknown', async () => {
    const clock = fakeClock()
    let seen: AbortSignal | undefined
    const sending = withDeadline({ timeoutMs: 50, signals: [], clock, channel: 'ops' }, (signal) => {
      seen = signal
      return new Promise(() => {})
    })
    sending.catch(() => {})
    await clock.advance(49)
    expect(seen?.aborted).toBe(false)
    await clock.advance(1)
    await expect(sending).rejects.toMatchObject({
      code: 'HTTP_TIMEOUT',
      message: 'The channel ops did not answer in 50 ms; it is not known whether the message arrived.',
      retryable: false,
      fix: { hint: LOOK_THERE },
      details: { isUnknown: true },
    })
    expect(seen?.aborted).toBe(true)
  })

  it('is not begun when it was stopped before', async () => {
    const clock = fakeClock()
    let hasBegun = false
    const signals = [new AbortController().signal, AbortSignal.abort(new Error('stopped'))]
    const sending = withDeadline({ timeoutMs: 50, signals, clock, channel: 'ops' }, async () => {
      hasBegun = true
    })
    await expect(sending).rejects.toThrow('stopped')
    expect([hasBegun, clock.waiting]).toEqual([false, 0])
  })
})
