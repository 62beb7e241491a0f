import { describe, expect, it } from 'vitest'
import { Outbox } from './outbox.ts'

function fill(outbox: Outbox, count: number, mayDrop: boolean): boolean[] {
  return Array.from({ length: count }, () => outbox.add(outbox.nextSeq(), 'x'.repeat(10), mayDrop))
}

function takeAll(outbox: Outbox): number {
  let taken = 0
  while (outbox.take() !== undefined) taken++
  return taken
}

describe('Outbox', () => {
  it('gives messages once, in order, and all that were not acknowledged again after a rewind', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1_000 })
    for (const text of ['a', 'b', 'c']) outbox.add(outbox.nextSeq(), text, false)
    expect([outbox.take(), outbox.take(), outbox.take(), outbox.take()]).toEqual(['a', 'b', 'c', undefined])
    expect(outbox.rewind(1)).toBe(false)
    expect([outbox.take(), outbox.take(), outbox.take()]).toEqual(['b', 'c', undefined])
    outbox.acknowledge(3)
    expect({ hasFirm: outbox.hasFirm, bytes: outbox.bytes, found: outbox.find(3) }).toEqual({
      hasFirm: false,
      bytes: 0,
      found: undefined,
    })
  })

  it('does not believe that something came which was never sent', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1_000 })
    fill(outbox, 3, false)
    outbox.take()
    outbox.acknowledge(99)
    expect(takeAll(outbox)).toBe(2)
  })

  it('drops the oldest that may be dropped, never what has to arrive, and says when one was not sent', () => {
    const outbox = new Outbox({ messages: 8, bytes: 10_000 })
    fill(outbox, 4, false)
    expect(fill(outbox, 5, true)).toEqual([false, false, false, false, true])
    expect(takeAll(outbox)).toBe(6)
    expect(outbox.isFull).toBe(false)
    expect(fill(outbox, 5, false).some(Boolean)).toBe(false)
    expect(outbox.isFull).toBe(true)
    expect(outbox.rewind(0)).toBe(true)
    expect(takeAll(outbox)).toBe(9)
  })

  it('counts bytes too', () => {
    const outbox = new Outbox({ messages: 1_000, bytes: 100 })
    fill(outbox, 11, false)
    expect(outbox.isFull).toBe(true)
  })

  it('drops nothing at its limits, and a quarter above them', () => {
    for (const most of [
      { messages: 20, bytes: 1_000 },
      { messages: 1_000, bytes: 200 },
    ]) {
      const outbox = new Outbox(most)
      expect(fill(outbox, 20, true)).not.toContain(true)
      expect(outbox.bytes).toBe(200)
      expect(fill(outbox, 1, true)).toEqual([true])
      expect(outbox.bytes).toBe(150)
      expect([outbox.find(6), outbox.find(7)]).toEqual([undefined, 'x'.repeat(10)])
      expect([outbox.rewind(6), outbox.rewind(5)]).toEqual([false, true])
    }
  })

  it('is full above its limits, not at them', () => {
    for (const most of [
      { messages: 20, bytes: 1_000 },
      { messages: 1_000, bytes: 200 },
    ]) {
      const outbox = new Outbox(most)
      expect(fill(outbox, 20, false)).not.toContain(true)
      expect([outbox.hasFirm, outbox.isFull]).toEqual([true, false])
      expect(fill(outbox, 1, false)).toEqual([false])
      expect([outbox.isFull, outbox.bytes]).toEqual([true, 210])
      takeAll(outbox)
      outbox.acknowledge(1)
      expect([outbox.isFull, outbox.bytes]).toEqual([false, 200])
    }
  })

  it('continues after the last that was sent when older ones are dropped', () => {
    const outbox = new Outbox({ messages: 8, bytes: 1_000 })
    for (let index = 1; index <= 8; index++) outbox.add(outbox.nextSeq(), `m${index}`, true)
    for (let index = 1; index <= 5; index++) expect(outbox.take()).toBe(`m${index}`)
    expect(outbox.add(outbox.nextSeq(), 'm9', true)).toBe(false)
    expect([1, 2, 3, 4, 5, 6, 9].map((seq) => outbox.isUnsent(seq))).toEqual([...Array(5).fill(false), ...[true, true]])
    expect(outbox.take()).toBe('m6')
  })

  it('takes a message back, and says whether it was sent', () => {
    const outbox = new Outbox({ messages: 10, bytes: 1_000 })
    fill(outbox, 3, false)
    outbox.take()
    expect([outbox.withdraw(1), outbox.withdraw(3), outbox.withdraw(1)]).toEqual([true, false, true])
    expect(takeAll(outbox)).toBe(1)
  })

  it('stays right over many messages', () => {
    const outbox = new Outbox({ messages: 1_000, bytes: 1_000_000 })
    for (let round = 0; round < 100; round++) {
      fill(outbox, 100, round % 2 === 0)
      expect(takeAll(outbox)).toBe(100)
      outbox.acknowledge((round + 1) * 100 - 50)
    }
    expect(outbox.find(9_951)).toBeDefined()
    expect(outbox.find(9_950)).toBeUndefined()
  })
})
