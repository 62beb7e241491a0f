import { describe, expect, it } from 'vitest'
import { SharedTurns } from './shared-turns.ts'

/** Work that ends when the test says so, and tells how much of it is under way. */
function gatedWork() {
  const begun: string[] = []
  const gates: (() => void)[] = []
  let underWay = 0
  let most = 0
  const work = (name: string) => async () => {
    begun.push(name)
    most = Math.max(most, ++underWay)
    await new Promise<void>((resolve) => gates.push(resolve))
    underWay--
    return name
  }
  const release = async () => {
    await expect.poll(() => gates.length).toBeGreaterThan(0)
    gates.shift()!()
  }
  return { begun, work, release, most: () => most }
}

describe('heavy work', () => {
  it('is done one at a time, once for all who ask for the same meanwhile, and again later', async () => {
    const turns = new SharedTurns('A check')
    const { work, begun, release, most } = gatedWork()
    const asked = [turns.share('a', work('a')), turns.share('b', work('b')), turns.share('a', work('a again'))]
    const also = turns.share('b', work('b again'))
    await release()
    await release()
    expect(await Promise.all([...asked, also])).toEqual(['a', 'b', 'a', 'b'])
    const later = turns.share('a', work('a later'))
    await release()
    expect(await later).toBe('a later')
    expect(begun).toEqual(['a', 'b', 'a later'])
    expect(most()).toBe(1)
  })

  it('that fails tells all who asked, and holds up nobody', async () => {
    const turns = new SharedTurns('A check')
    const fail = () => turns.share('a', () => Promise.reject(new Error('broken')))
    const next = async () => turns.share('b', async () => 'fine')
    const outcomes = await Promise.allSettled([fail(), fail(), next()])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })

  it('is refused while too many wait for other work', async () => {
    const turns = new SharedTurns('A check')
    const { work, release } = gatedWork()
    const waiting = Array.from({ length: 9 }, (_, index) => turns.share(String(index), work(String(index))))
    await expect(turns.share('more', work('more'))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    const same = turns.share('3', work('3'))
    for (let index = 0; index < 9; index++) await release()
    expect(await same).toBe('3')
    expect(await Promise.all(waiting)).toHaveLength(9)
    const after = turns.share('more', work('more'))
    await release()
    expect(await after).toBe('more')
  })
})
