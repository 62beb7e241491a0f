import { describe, expect, it } from 'vitest'
import { Later, once } from './async.ts'

it('does the work for the first who needs it, and shares it with all others', async () => {
  let count = 0
  const work = once(async () => ++count)
  expect(await Promise.all([work(), work()])).toEqual([1, 1])
  expect(await work()).toBe(1)
})

it('tells a failure to those who wait, and tries again for the next', async () => {
  let count = 0
  const work = once(async () => {
    count++
    if (count === 1) throw new Error('not yet')
    return count
  })
  const both = await Promise.allSettled([work(), work()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await work()).toBe(2)
})

describe('something that is made later', () => {
  it('is made once, at its first use, and then used synchronously', async () => {
    let count = 0
    const later = new Later(async () => ++count)
    expect([count, later.made]).toEqual([0, undefined])
    expect(await Promise.all([later.get(), later.use((value) => value + 10)])).toEqual([1, 11])
    expect([count, later.made, later.use((value) => value + 20)]).toEqual([1, 1, 21])
  })

  it('is tried again after a failure', async () => {
    const outcomes = [new Error('not now'), 'now']
    const later = new Later(async () => {
      const outcome = outcomes.shift()
      if (outcome instanceof Error) throw outcome
      return outcome
    })
    await expect(later.use((value) => value)).rejects.toThrow('not now')
    expect(await later.use((value) => value)).toBe('now')
  })

  it('is closed after its uses, also while it is being made, and not made to be closed', async () => {
    const events: string[] = []
    const later = () => new Later(async () => events.push('made'))
    await later().close(() => void events.push('closed'))
    expect(events).toEqual([])
    const used = later()
    const using = used.use(() => void events.push('used'))
    await used.close(() => void events.push('closed'))
    await using
    expect(events).toEqual(['made', 'used', 'closed'])
  })

  it('is not closed if it could not be made', async () => {
    const later = new Later(async () => {
      throw new Error('not now')
    })
    await expect(later.get()).rejects.toThrow('not now')
    await later.close(() => expect.unreachable())
  })
})
