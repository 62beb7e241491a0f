import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../test/support/holding-clock.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { LiveOutput } from './live-output.ts'
import { plainText } from './plain-text.ts'

function hearing() {
  const clock = fakeClock()
  const live = new LiveOutput(clock)
  const heard: [string, string][] = []
  live.listen((text, stream) => heard.push([stream, text]))
  const push = (text: string, stream: 'stdout' | 'stderr' = 'stdout') => live.push(Buffer.from(text), stream)
  return { clock, live, heard, push }
}

describe('live output', () => {
  it('tells the first at once and the rest together, some times a second', async () => {
    const { clock, heard, push } = hearing()
    push('a')
    push('b')
    push('c', 'stderr')
    push('d')
    expect(heard).toEqual([['stdout', 'a']])
    await clock.advance(49)
    expect(heard).toHaveLength(1)
    await clock.advance(1)
    expect(heard).toEqual([
      ['stdout', 'a'],
      ['stdout', 'b'],
      ['stderr', 'c'],
      ['stdout', 'd'],
    ])
  })

  it('keeps no process alive for what it has still to tell', () => {
    const clock = holdingClock()
    const live = new LiveOutput(clock)
    live.listen(() => {})
    for (const text of ['a', 'b']) live.push(Buffer.from(text), 'stdout')
    expect([clock.waiting, clock.holding]).toEqual([1, 0])
  })

  it('loses nothing, whatever comes in whatever pieces', async () => {
    const raw = '\u001b[1mone\u001b[0m 1%\r50%\r\r100%\r\ntwo\u001b]0;a title\u0007\r\nthree\rTHREE\n\n\rfour\r'
    for (let seed = 1; seed <= 60; seed += 1) {
      const { clock, live, heard, push } = hearing()
      for (let at = 0, turn = seed; at < raw.length; turn = (turn * 31 + 7) % 101) {
        const size = (turn % 5) + 1
        push(raw.slice(at, at + size))
        at += size
        if (turn % 3 === 0) await clock.advance(50)
      }
      live.end()
      const text = heard.map(([, told]) => told).join('')
      expect(plainText(text)).toBe(plainText(raw))
      expect(text).not.toContain('\u001b')
    }
  })

  it('tells early when much waits, and turn by turn only so often', async () => {
    const { clock, heard, push } = hearing()
    push('x')
    push('y'.repeat(300_000))
    expect(heard).toHaveLength(2)
    await clock.advance(50)
    heard.length = 0
    for (let turn = 0; turn < 1_000; turn += 1) push(`${turn}\n`, turn % 2 === 0 ? 'stdout' : 'stderr')
    await clock.advance(50)
    expect(heard.length).toBeLessThan(40)
    expect(
      heard
        .map(([, told]) => told)
        .join('')
        .split('\n'),
    ).toHaveLength(1_001)
  })

  it('lets the first listener hear what came before it, and the next only what comes', async () => {
    const clock = fakeClock()
    const live = new LiveOutput(clock)
    live.push(Buffer.from('early '), 'stdout')
    const first: string[] = []
    const second: string[] = []
    const leave = live.listen((text) => first.push(text))
    live.listen((text) => second.push(text))
    leave()
    live.push(Buffer.from('late'), 'stdout')
    live.end()
    expect([first, second]).toEqual([['early '], ['late']])
  })

  it('tells nothing early up to 256 KB, and forgets 64 KB that nobody heard', async () => {
    const { heard, push } = hearing()
    push('x')
    push('y'.repeat(262_144))
    expect(heard).toHaveLength(1)
    push('z')
    expect(heard).toHaveLength(2)
    const toldAfter = (bytes: number) => {
      const live = new LiveOutput(fakeClock())
      live.push(Buffer.alloc(bytes, 'a'), 'stdout')
      const told: string[] = []
      live.listen((text) => told.push(text))
      live.push(Buffer.from('b'), 'stdout')
      live.end()
      return told.join('').length
    }
    expect([toldAfter(65_536), toldAfter(65_537)]).toEqual([65_537, 1])
  })

  it('tells 32 turns of two streams as they came, and joins what follows', async () => {
    const { clock, heard, push } = hearing()
    push('first')
    heard.length = 0
    for (let turn = 0; turn < 34; turn += 1) push(`${turn},`, turn % 2 === 0 ? 'stdout' : 'stderr')
    await clock.advance(50)
    expect(heard).toHaveLength(32)
    expect(heard.slice(-2)).toEqual([
      ['stdout', '30,32,'],
      ['stderr', '31,33,'],
    ])
  })

  it('says with a carriage return that a line which was told already is drawn over', async () => {
    const { clock, heard, push } = hearing()
    push('1%')
    push('\r2%')
    await clock.advance(50)
    push('\r\nnext')
    await clock.advance(50)
    expect(heard.map(([, told]) => told)).toEqual(['1%', '\r2%', '\nnext'])
  })

  it('goes on for others when a listener fails', () => {
    const { live, heard, push } = hearing()
    live.listen(() => {
      throw new Error('broken')
    })
    push('a')
    push('b')
    live.end()
    expect(heard.map(([, told]) => told)).toEqual(['a', 'b'])
  })
})
