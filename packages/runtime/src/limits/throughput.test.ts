import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Concurrency, type Release } from './throughput.ts'

const caller = new AbortController()

describe('Concurrency', () => {
  it('enters without a promise while there is room, and never asks for the signal', () => {
    const concurrency = new Concurrency({ all: 2 })
    const unasked = {
      get signal(): AbortSignal {
        throw new Error('asked for the signal')
      },
    }
    expect(typeof concurrency.enter('a', unasked)).toBe('function')
    expect(typeof concurrency.enter('b', unasked)).toBe('function')
    expect(() => concurrency.enter('c', unasked)).toThrow('asked for the signal')
  })

  it('lets everybody in without limits', () => {
    const concurrency = new Concurrency({})
    for (let i = 0; i < 1000; i++) expect(typeof concurrency.enter('a', caller)).toBe('function')
    // Nothing is counted, so there is nothing to make for each call.
    expect(concurrency.enter('b', caller)).toBe(concurrency.enter('a', caller))
  })

  it('keeps 1,000 calls within the limits, in their order', async () => {
    const concurrency = new Concurrency({ all: 7, tools: { narrow: 2 } })
    const active = { all: 0, narrow: 0 }
    const order: number[] = []
    const one = async (index: number, tool: 'wide' | 'narrow') => {
      const release = await concurrency.enter(tool, caller)
      order.push(index)
      active.all++
      if (tool === 'narrow') active.narrow++
      expect(active.all).toBeLessThanOrEqual(7)
      expect(active.narrow).toBeLessThanOrEqual(2)
      await new Promise(setImmediate)
      active.all--
      if (tool === 'narrow') active.narrow--
      release()
    }
    await Promise.all(Array.from({ length: 1000 }, (_, index) => one(index, index % 3 === 0 ? 'narrow' : 'wide')))
    expect(order).toHaveLength(1000)
    const ofNarrow = order.filter((index) => index % 3 === 0)
    expect(ofNarrow).toEqual(ofNarrow.toSorted((a, b) => a - b))
  })

  it('goes by arrival over all tools, so that none starves', async () => {
    const concurrency = new Concurrency({ all: 1, tools: { b: 1 } })
    const entered: string[] = []
    const first = (await concurrency.enter('a', caller)) as Release
    const waits = ['b', 'a', 'b', 'a'].map(async (tool, index) => {
      const release = await concurrency.enter(tool, caller)
      entered.push(`${tool}${index}`)
      release()
    })
    first()
    await Promise.all(waits)
    expect(entered).toEqual(['b0', 'a1', 'b2', 'a3'])
  })

  it('lets others pass a call that waits for its own tool', async () => {
    const concurrency = new Concurrency({ all: 3, tools: { narrow: 1 } })
    const release = (await concurrency.enter('narrow', caller)) as Release
    const waiting = concurrency.enter('narrow', caller)
    expect(waiting).toBeInstanceOf(Promise)
    expect(typeof concurrency.enter('wide', caller)).toBe('function')
    release()
    expect(typeof (await waiting)).toBe('function')
  })

  it('leaves the queue when aborted, and holds nobody up afterwards', async () => {
    const concurrency = new Concurrency({ all: 1 })
    const release = (await concurrency.enter('a', caller)) as Release
    const stopper = new AbortController()
    const stopped = concurrency.enter('a', stopper)
    const next = concurrency.enter('a', caller)
    stopper.abort(new Error('enough'))
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED', cause: stopper.signal.reason })
    release()
    const releaseNext = await next
    releaseNext()
    expect(typeof concurrency.enter('a', caller)).toBe('function')
  })

  it('refuses to wait for a call that is stopped already', async () => {
    const concurrency = new Concurrency({ tools: { a: 0 } })
    const stopped = AbortSignal.abort(new Error('enough'))
    await expect(concurrency.enter('a', { signal: stopped })).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'The caller stopped a while it waited for its turn.',
      cause: stopped.reason,
    })
  })

  it('keeps a place that was entered when the abort comes later', async () => {
    const concurrency = new Concurrency({ all: 1 })
    const release = (await concurrency.enter('a', caller)) as Release
    const stopper = new AbortController()
    const entering = concurrency.enter('a', stopper)
    release()
    expect(getEventListeners(stopper.signal, 'abort')).toEqual([])
    stopper.abort()
    const releaseSecond = await entering
    expect(concurrency.enter('a', caller)).toBeInstanceOf(Promise)
    releaseSecond()
  })

  it('goes by arrival over tools that all have limits of their own', async () => {
    const concurrency = new Concurrency({ all: 1, tools: { a: 1, b: 1, c: 1 } })
    const first = (await concurrency.enter('other', caller)) as Release
    const entered: string[] = []
    const waits = ['c', 'a', 'b', 'a', 'c'].map(async (tool, index) => {
      const release = await concurrency.enter(tool, caller)
      entered.push(`${tool}${index}`)
      release()
    })
    first()
    await Promise.all(waits)
    expect(entered).toEqual(['c0', 'a1', 'b2', 'a3', 'c4'])
  })

  it('lets in everybody there is room for when a place is free', async () => {
    const concurrency = new Concurrency({ all: 3, tools: { narrow: 1 } })
    const [narrow, , wide] = ['narrow', 'x', 'y'].map((tool) => concurrency.enter(tool, caller) as Release)
    const waiting = ['narrow', 'x', 'narrow'].map((tool) => concurrency.enter(tool, caller))
    // The first of them waits for its own tool: the place is for the second.
    wide!()
    expect(typeof (await waiting[1])).toBe('function')
    narrow!()
    const release = await waiting[0]!
    release()
    expect(typeof (await waiting[2])).toBe('function')
  })

  it('refuses call 100,001 that would wait, until one of those before it has left', async () => {
    const concurrency = new Concurrency({ tools: { a: 0 } })
    const stopper = new AbortController()
    const stopped = concurrency.enter('a', stopper) as Promise<Release>
    // So many signals take their time, and so does one that so many listen to.
    const never = { aborted: false, addEventListener: () => {} } as unknown as AbortSignal
    for (let waiting = 1; waiting < 100_000; waiting++) void concurrency.enter('a', { signal: never })
    await expect(concurrency.enter('a', caller)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: 'a cannot wait: 100000 calls wait already.',
      fix: { hint: 'Wait until calls have ended, then call again.' },
    })
    stopper.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' })
    const late = new AbortController()
    const waits = concurrency.enter('a', late)
    late.abort()
    await expect(waits).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('gives a place back once, however often it is released', async () => {
    const concurrency = new Concurrency({ all: 1 })
    const release = (await concurrency.enter('a', caller)) as Release
    release()
    release()
    expect(typeof concurrency.enter('a', caller)).toBe('function')
    expect(concurrency.enter('a', caller)).toBeInstanceOf(Promise)
  })
})
