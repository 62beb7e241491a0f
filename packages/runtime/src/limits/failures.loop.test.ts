import { describe, expect, it } from 'vitest'
import { LoopDetector } from './failures.ts'

describe('LoopDetector', () => {
  it('warns from the third and refuses after the fifth time the same call failed the same way', () => {
    const loops = new LoopDetector()
    const notices = Array.from({ length: 5 }, () => {
      loops.check('r', 'x', 'args')
      return loops.record('r', 'x', 'args', 'failure')
    })
    expect(notices).toEqual([
      undefined,
      undefined,
      'x failed the same way 3 times in a row with these arguments; at 5 it is refused.',
      'x failed the same way 4 times in a row with these arguments; at 5 it is refused.',
      'x failed the same way 5 times in a row with these arguments; the next is refused.',
    ])
    expect(() => loops.check('r', 'x', 'args')).toThrow(
      expect.objectContaining({
        code: 'LOOP_DETECTED',
        message: 'x failed the same way 5 times in a row with these arguments.',
        fix: { hint: 'Change the arguments, or do something else first: another call that works frees this one.' },
        details: { times: 5, stopAt: 5 },
      }),
    )
  })

  it('refuses only that call, in that run', () => {
    const loops = failing(5)
    loops.check('r', 'x', 'other')
    loops.check('r', 'y', 'args')
    loops.check('other', 'x', 'args')
    expect(() => loops.check('r', 'x', 'args')).toThrow('5 times in a row')
  })

  it('begins anew after a success, another failure, or the end of the run', () => {
    const succeeded = failing(4)
    succeeded.record('r', 'x', 'args', undefined)
    expect(succeeded.record('r', 'x', 'args', 'failure')).toBeUndefined()
    const changed = failing(4)
    expect(changed.record('r', 'x', 'args', 'another failure')).toBeUndefined()
    const ended = failing(5)
    ended.forget('r')
    ended.check('r', 'x', 'args')
  })

  it('frees a refused call once something else in the run worked', () => {
    const loops = failing(5)
    loops.record('r', 'edit', 'args', undefined)
    loops.check('r', 'x', 'args')
  })

  it('sees through two failing calls that take turns', () => {
    const loops = new LoopDetector()
    for (let i = 0; i < 5; i++) for (const tool of ['x', 'y']) loops.record('r', tool, 'args', 'failure')
    expect(() => loops.check('r', 'x', 'args')).toThrow('5 times in a row')
  })

  it('never stops polling that succeeds', () => {
    const loops = new LoopDetector()
    for (let i = 0; i < 1000; i++) {
      loops.check('r', 'poll', 'args')
      expect(loops.record('r', 'poll', 'args', undefined)).toBeUndefined()
    }
  })

  it('remembers the 100 calls of a run that failed last', () => {
    const loops = new LoopDetector({ warnAt: 2, stopAt: 2 })
    const fail = (call: number) => loops.record('r', 'x', `args ${call}`, 'failure')
    for (let call = 0; call < 100; call++) fail(call)
    // It failed again, so it is the last of them.
    expect(fail(0)).toContain('2 times in a row')
    fail(100)
    expect(() => loops.check('r', 'x', 'args 0')).toThrow(
      expect.objectContaining({ code: 'LOOP_DETECTED', details: { times: 2, stopAt: 2 } }),
    )
    expect(fail(2)).toContain('2 times in a row')
    expect(fail(1)).toBeUndefined()
  })

  it('lets a call through that has not failed yet, however few failures are allowed', () => {
    const loops = new LoopDetector({ warnAt: 1, stopAt: 1 })
    loops.check('r', 'x', 'args')
    expect(loops.record('r', 'x', 'args', 'failure')).toContain('1 times in a row')
    loops.check('r', 'x', 'other')
    expect(() => loops.check('r', 'x', 'args')).toThrow('1 times in a row')
  })

  it('remembers the 10,000 runs that failed last', () => {
    const loops = new LoopDetector({ warnAt: 2, stopAt: 2 })
    for (let run = 0; run < 10_000; run++) loops.record(`r${run}`, 'x', 'args', 'failure')
    expect(loops.record('r0', 'x', 'args', 'failure')).toContain('2 times in a row')
    loops.record('one more', 'x', 'args', 'failure')
    expect(loops.record('r2', 'x', 'args', 'failure')).toContain('2 times in a row')
    expect(loops.record('r1', 'x', 'args', 'failure')).toBeUndefined()
  })

  it('remembers a bounded number of runs and of calls in a run', () => {
    const loops = new LoopDetector({ maxRuns: 1, warnAt: 2, stopAt: 2 })
    loops.record('r', 'x', 'first', 'failure')
    for (let i = 0; i < 100; i++) loops.record('r', 'x', `args ${i}`, 'failure')
    expect(loops.record('r', 'x', 'first', 'failure')).toBeUndefined()
    loops.record('r2', 'x', 'args', 'failure')
    expect(loops.record('r', 'x', 'first', 'failure')).toBeUndefined()
  })
})

function failing(times: number): LoopDetector {
  const loops = new LoopDetector()
  for (let i = 0; i < times; i++) loops.record('r', 'x', 'args', 'failure')
  return loops
}
