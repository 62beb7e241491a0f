import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../../test/support/holding-clock.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { LiveOutput } from './output-pipe.ts'
import { plainText } from './output-text.ts'

function listening() {
  const clock = fakeClock()
  const live = new LiveOutput(clock)
  const received: [string, string][] = []
  live.listen((text, stream) => received.push([stream, text]))
  const push = (text: string, stream: 'stdout' | 'stderr' = 'stdout') => live.push(Buffer.from(text), stream)
  return { clock, live, received, push }
}

describe('live output', () => {
  it('delivers the first output immediately and the rest together, a few times a second', async () => {
    const { clock, received, push } = listening()
    push('a')
    push('b')
    push('c', 'stderr')
    push('d')
    expect(received).toEqual([['stdout', 'a']])
    await clock.advance(49)
    expect(received).toHaveLength(1)
    await clock.advance(1)
    expect(received).toEqual([
      ['stdout', 'a'],
      ['stdout', 'b'],
      ['stderr', 'c'],
      ['stdout', 'd'],
    ])
  })

  it('keeps no process alive for pending output', () => {
    const clock = holdingClock()
    const live = new LiveOutput(clock)
    live.listen(() => {})
    for (const text of ['a', 'b']) live.push(Buffer.from(text), 'stdout')
    expect([clock.waiting, clock.holding]).toEqual([1, 0])
  })

  it('loses nothing, whatever comes in whatever pieces', async () => {
    const raw = '\u001b[1mone\u001b[0m 1%\r50%\r\r100%\r\ntwo\u001b]0;a title\u0007\r\nthree\rTHREE\n\n\rfour\r'
    for (let seed = 1; seed <= 60; seed += 1) {
      const { clock, live, received, push } = listening()
      for (let at = 0, turn = seed; at < raw.length; turn = (turn * 31 + 7) % 101) {
        const size = (turn % 5) + 1
        push(raw.slice(at, at + size))
        at += size
        if (turn % 3 === 0) await clock.advance(50)
      }
      live.end()
      const text = received.map(([, told]) => told).join('')
      expect(plainText(text)).toBe(plainText(raw))
      expect(text).not.toContain('\u001b')
    }
  })

  it('delivers early if much waits, and turn by turn only up to a limit', async () => {
    const { clock, received, push } = listening()
    push('x')
    push('y'.repeat(300_000))
    expect(received).toHaveLength(2)
    await clock.advance(50)
    received.length = 0
    for (let turn = 0; turn < 1_000; turn += 1) push(`${turn}\n`, turn % 2 === 0 ? 'stdout' : 'stderr')
    await clock.advance(50)
    expect(received.length).toBeLessThan(40)
    expect(
      received
        .map(([, told]) => told)
        .join('')
        .split('\n'),
    ).toHaveLength(1_001)
  })

  it('gives the first listener earlier output, and the next only new output', async () => {
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

  it('delivers nothing early up to 256 KB, and drops 64 KB that nobody listened to', async () => {
    const { received, push } = listening()
    push('x')
    push('y'.repeat(262_144))
    expect(received).toHaveLength(1)
    push('z')
    expect(received).toHaveLength(2)
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

  it('delivers 32 turns of two streams in order, and joins what follows', async () => {
    const { clock, received, push } = listening()
    push('first')
    received.length = 0
    for (let turn = 0; turn < 34; turn += 1) push(`${turn},`, turn % 2 === 0 ? 'stdout' : 'stderr')
    await clock.advance(50)
    expect(received).toHaveLength(32)
    expect(received.slice(-2)).toEqual([
      ['stdout', '30,32,'],
      ['stderr', '31,33,'],
    ])
  })

  it('marks an overwritten line that was already delivered with a carriage return', async () => {
    const { clock, received, push } = listening()
    push('1%')
    push('\r2%')
    await clock.advance(50)
    push('\r\nnext')
    await clock.advance(50)
    expect(received.map(([, told]) => told)).toEqual(['1%', '\r2%', '\nnext'])
  })

  it('continues for other listeners when one fails', () => {
    const { live, received, push } = listening()
    live.listen(() => {
      throw new Error('broken')
    })
    push('a')
    push('b')
    live.end()
    expect(received.map(([, told]) => told)).toEqual(['a', 'b'])
  })
})
