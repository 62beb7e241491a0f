import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { Breakers } from './failures.ts'

describe('Breakers', () => {
  it('pauses a tool after five failures in a row and says how long', async () => {
    const clock = fakeClock()
    const breakers = opened(clock)
    await clock.advance(10_000)
    expect(() => breakers.check('x')).toThrow('x failed 5 times in a row and is paused; wait 20000 ms.')
    expect(breakers.check('y')).toBe(false)
  })

  it('counts only failures in a row', () => {
    const breakers = new Breakers({}, fakeClock())
    for (let i = 0; i < 20; i++) breakers.record('x', i % 4 === 3 ? 'ok' : 'failed', false)
    breakers.record('x', 'neutral', false)
    expect(breakers.check('x')).toBe(false)
  })

  it('begins to count anew after a call that worked', () => {
    const breakers = new Breakers({ failures: 2 }, fakeClock())
    for (const outcome of ['failed', 'ok', 'failed'] as const) breakers.record('x', outcome, false)
    expect(breakers.check('x')).toBe(false)
    breakers.record('x', 'failed', false)
    expect(() => breakers.check('x')).toThrow('failed 2 times in a row')
  })

  it('lets exactly one call try again, and works on when it worked', async () => {
    const clock = fakeClock()
    const breakers = opened(clock)
    await clock.advance(30_000)
    expect(breakers.check('x')).toBe(true)
    expect(() => breakers.check('x')).toThrow('another call is trying it now')
    breakers.record('x', 'ok', true)
    expect(breakers.check('x')).toBe(false)
    expect(breakers.check('x')).toBe(false)
  })

  it('pauses again when the try fails', async () => {
    const clock = fakeClock()
    const breakers = opened(clock)
    await clock.advance(30_000)
    breakers.check('x')
    breakers.record('x', 'failed', true)
    expect(() => breakers.check('x')).toThrow('wait 30000 ms')
  })

  it('frees the place of a try that was stopped', async () => {
    const clock = fakeClock()
    const breakers = opened(clock)
    await clock.advance(30_000)
    breakers.check('x')
    breakers.record('x', 'neutral', true)
    expect(breakers.check('x')).toBe(true)
  })

  it('is not misled by calls from before the pause that end late', async () => {
    const clock = fakeClock()
    const breakers = opened(clock)
    breakers.record('x', 'ok', false)
    expect(() => breakers.check('x')).toThrow('wait 30000 ms')
    await clock.advance(30_000)
    breakers.check('x')
    breakers.record('x', 'neutral', false)
    expect(() => breakers.check('x')).toThrow('another call is trying it now')
  })

  it('says CIRCUIT_OPEN with the wait for programs', () => {
    const breakers = opened(fakeClock())
    const open = expect.objectContaining({ code: 'CIRCUIT_OPEN', details: { failures: 5, retryAfterMs: 30_000 } })
    expect(() => breakers.check('x')).toThrow(open)
  })

  it('looks whether a tool is paused without being the call that tries it again', async () => {
    const clock = fakeClock()
    const breakers = opened(clock)
    expect(() => breakers.refusePaused('x')).toThrow('wait 30000 ms')
    breakers.refusePaused('y')
    await clock.advance(30_000)
    breakers.refusePaused('x')
    expect(breakers.check('x')).toBe(true)
    expect(() => breakers.refusePaused('x')).toThrow('another call is trying it now')
  })

  it('remembers the 10,000 that began to fail last', () => {
    const breakers = new Breakers({ failures: 1 }, fakeClock())
    for (let i = 0; i < 10_000; i++) breakers.record(`tool ${i}`, 'failed', false)
    expect(() => breakers.check('tool 0')).toThrow('paused')
    breakers.record('one more', 'failed', false)
    expect(breakers.check('tool 0')).toBe(false)
    for (const tool of ['tool 1', 'one more']) expect(() => breakers.check(tool)).toThrow('paused')
  })

  it('takes other numbers from its owner', async () => {
    const clock = fakeClock()
    const breakers = new Breakers({ failures: 1, coolDownMs: 50 }, clock)
    breakers.record('x', 'failed', false)
    expect(() => breakers.check('x')).toThrow('wait 50 ms')
    await clock.advance(50)
    expect(breakers.check('x')).toBe(true)
  })
})

function opened(clock: ReturnType<typeof fakeClock>): Breakers {
  const breakers = new Breakers({}, clock)
  for (let i = 0; i < 5; i++) breakers.record('x', 'failed', false)
  return breakers
}
