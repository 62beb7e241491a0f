import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { Store } from '../../../core/src/store.ts'
import { isOwnerAlive, newOwner } from '../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { ClusterMember } from './cluster-member.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Members with a store each, on one file and by one clock. */
function newCluster() {
  const clock = fakeClock()
  const folder = temporaryFolder('cluster')
  const join = (change: (store: Store) => Pick<Store, 'processes' | 'runStates'> = (store) => store) => {
    const store = openStore(folder, { now: clock.now })
    const member = new ClusterMember({ store: change(store), clock, running: () => 3 })
    ends.push(async () => {
      await member.close()
      await store.close()
    })
    return { member, store }
  }
  return { clock, join }
}

/** A store whose heartbeats fail while `isDown`. */
function breakable(store: Store) {
  const state = { isDown: false }
  const check = () => {
    if (state.isDown) throw new Error('The database is away.')
  }
  const processes: Store['processes'] = {
    ...store.processes,
    async beat(process) {
      check()
      return store.processes.beat(process)
    },
  }
  return { state, parts: { processes, runStates: store.runStates } }
}

describe('a member of a cluster', () => {
  it('is known to the others with its first heartbeat, and gone when it is closed', async () => {
    const { clock, join } = newCluster()
    const a = join().member
    await clock.advance(1)
    const b = join().member
    expect(a.isCut).toBe(true)
    a.describe({ kind: 'service', address: 'http://a:7700' })
    await a.beat()
    await b.beat()
    expect(a.isCut).toBe(false)
    expect(b.processes()).toMatchObject([
      { id: a.id, kind: 'service', running: 3, isAlive: true },
      { id: b.id, kind: 'library' },
    ])
    expect([b.addressOf(a.id), b.addressOf(b.id), b.addressOf('p')]).toEqual(['http://a:7700', undefined, undefined])
    await a.close()
    await b.beat()
    expect(b.processes()).toMatchObject([{ id: b.id }])
  })

  it('leases a run that another has only when that one has ended', async () => {
    const { clock, join } = newCluster()
    const [a, b] = [join().member, join().member]
    await a.beat()
    expect(await a.lease('r', 'ada')).toMatchObject({ owner: a.id, epoch: 1, principal: 'ada' })
    expect(a.leaseOf('r')).toEqual({ owner: a.id, epoch: 1 })
    expect(await a.placeOf('r')).toBeUndefined()
    const state = await b.lease('r', 'ada')
    expect(state).toMatchObject({ owner: a.id, epoch: 1 })
    expect(b.elsewhere(state)).toMatchObject({ code: 'RUN_ELSEWHERE', retryable: true, details: { process: a.id } })
    expect(await b.placeOf('r')).toEqual({ process: a.id, address: undefined, epoch: 1 })
    expect(await b.placeOf('none')).toBeUndefined()
    expect(() => b.assertHolds('r')).toThrow(expect.objectContaining({ code: 'RUN_MOVED' }))
    await clock.advance(60_000)
    expect(await b.lease('r', 'ada')).toMatchObject({ owner: a.id })
    await a.release('r')
    expect(await b.placeOf('r')).toBeUndefined()
    expect(await b.lease('r', 'ada')).toMatchObject({ owner: b.id, epoch: 2 })
    await a.release('r')
    await b.confirm('r')
  })

  it('leases a run while its first heartbeat is under way', async () => {
    const { join } = newCluster()
    let reached = () => {}
    let proceed = () => {}
    const isListing = new Promise<void>((resolve) => {
      reached = resolve
    })
    const mayList = new Promise<void>((resolve) => {
      proceed = resolve
    })
    const slow = ({ processes, runStates }: Store) => {
      const list = async () => {
        reached()
        await mayList
        return processes.list()
      }
      return { runStates, processes: { ...processes, list } }
    }
    const { member } = join(slow)
    const first = member.lease('one', undefined)
    await isListing
    const second = member.lease('two', undefined)
    proceed()
    expect(await Promise.all([first, second])).toMatchObject([{ owner: member.id }, { owner: member.id }])
  })

  it('is cut off 8 s after its last heartbeat, tells once, and comes back by itself', async () => {
    const { clock, join } = newCluster()
    let down = { isDown: false }
    const { member } = join((store) => {
      const { state, parts } = breakable(store)
      down = state
      return parts
    })
    await member.lease('r', undefined)
    let cuts = 0
    member.onCut(() => cuts++)
    await clock.advance(30_000)
    expect([member.isCut, cuts]).toEqual([false, 0])
    down.isDown = true
    await clock.advance(8_000)
    expect([member.isCut, cuts]).toEqual([false, 0])
    await clock.advance(2_000)
    expect([member.isCut, cuts]).toEqual([true, 1])
    for (const refused of [
      () => member.assertHolds('r'),
      () => member.confirm('r'),
      () => member.lease('s', undefined),
    ])
      await expect(async () => refused()).rejects.toMatchObject({ code: 'PROCESS_CUT_OFF', retryable: true })
    await clock.advance(20_000)
    down.isDown = false
    await clock.advance(2_000)
    expect([member.isCut, cuts]).toEqual([false, 1])
    await member.confirm('r')
  })

  it('notices by the clock that it was stopped, before anything else happens', async () => {
    const { clock, join } = newCluster()
    const { member } = join()
    await member.lease('r', undefined)
    let jumped = 0
    const { now } = clock
    Object.assign(clock, { now: () => now() + jumped })
    jumped = 60_000
    expect(() => member.assertHolds('r')).toThrow(expect.objectContaining({ code: 'PROCESS_CUT_OFF' }))
    await member.beat()
    member.assertHolds('r')
  })

  it('loses the runs that others took while it was cut off, and keeps the rest', async () => {
    const { clock, join } = newCluster()
    let down = { isDown: false }
    const { member: a } = join((store) => {
      const { state, parts } = breakable(store)
      down = state
      return parts
    })
    const { member: b } = join()
    for (const run of ['kept', 'taken', 'used']) await a.lease(run, undefined)
    await b.beat()
    const lost: string[] = []
    a.onMoved((run) => lost.push(run))
    down.isDown = true
    await clock.advance(12_000)
    expect(await b.lease('taken', undefined)).toMatchObject({ owner: b.id, epoch: 2 })
    expect(await b.lease('used', undefined)).toMatchObject({ owner: b.id, epoch: 2 })
    await b.release('used')
    expect(lost).toEqual([])
    down.isDown = false
    await clock.advance(2_000)
    expect(lost).toEqual(['taken', 'used'])
    a.assertHolds('kept')
    for (const run of lost) expect(() => a.assertHolds(run)).toThrow(expect.objectContaining({ code: 'RUN_MOVED' }))
    expect(await b.lease('kept', undefined)).toMatchObject({ owner: a.id, epoch: 1 })
  })

  it('frees a run with a heartbeat if the answer to its lease was lost, or the store did not take its release', async () => {
    const { clock, join } = newCluster()
    let isLost = false
    const lose = () => {
      if (isLost) throw new Error('The connection was lost.')
    }
    const a = join((store) => ({
      processes: store.processes,
      runStates: {
        ...store.runStates,
        lease: async (run, by) => {
          const state = await store.runStates.lease(run, by)
          lose()
          return state
        },
        release: async (run, held) => {
          lose()
          await store.runStates.release(run, held)
        },
      },
    })).member
    const b = join().member
    await b.beat()
    await a.lease('used', undefined)
    await a.lease('closed', undefined)
    isLost = true
    await expect(a.lease('opened', undefined)).rejects.toThrow('The connection was lost.')
    await a.release('closed')
    const owner = async (run: string) => (await b.lease(run, undefined)).owner
    for (const run of ['used', 'closed', 'opened']) expect(await owner(run)).toBe(a.id)
    await clock.advance(2_000)
    expect(await owner('closed')).toBe(a.id)
    isLost = false
    await clock.advance(2_000)
    for (const run of ['closed', 'opened']) await eventually(async () => expect(await owner(run)).toBe(b.id))
    expect(await owner('used')).toBe(a.id)
  })

  it('leases a run again when its release has ended, and keeps that lease', async () => {
    const { join } = newCluster()
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const { member, store } = join(({ processes, runStates }) => ({
      processes,
      runStates: {
        ...runStates,
        release: async (run, lease) => {
          await held
          await runStates.release(run, lease)
        },
      },
    }))
    await member.lease('r', undefined)
    const releasing = member.release('r')
    const leasing = member.lease('r', undefined)
    await new Promise((resolve) => setImmediate(resolve))
    letGo()
    await Promise.all([releasing, leasing])
    expect(await store.runStates.find('r')).toMatchObject(member.leaseOf('r')!)
  })

  it('finds out before a side effect that its run was taken', async () => {
    const { join } = newCluster()
    const [{ member: a, store }, { member: b }] = [join(), join()]
    await a.lease('r', undefined)
    await b.beat()
    // As if the heartbeats of a had stopped for everybody but itself.
    await store.processes.remove(a.id)
    await b.lease('r', undefined)
    a.assertHolds('r')
    await expect(a.confirm('r')).rejects.toMatchObject({ code: 'RUN_MOVED', retryable: true })
    expect(a.leaseOf('r')).toBeUndefined()
  })
})

describe('an owner on another machine', () => {
  it('is alive as long as its process sends heartbeats', async () => {
    const { clock, join } = newCluster()
    const a = join()
    const { member: b } = join()
    await b.beat()
    await a.member.beat()
    const owner = newOwner(a.member.id)
    // Not in the list of b yet.
    expect(isOwnerAlive(owner)).toBe(true)
    await clock.advance(2_000)
    expect(isOwnerAlive(owner)).toBe(true)
    await a.member.close()
    await clock.advance(2_000)
    expect(isOwnerAlive(owner)).toBe(false)
  })

  it('has ended when nobody has heard of its process for two heartbeats', async () => {
    const { clock, join } = newCluster()
    const { member } = join()
    await member.beat()
    const owner = newOwner('p-gone')
    expect(isOwnerAlive(owner)).toBe(true)
    await clock.advance(2_000)
    expect(isOwnerAlive(owner)).toBe(true)
    await clock.advance(2_000)
    expect(isOwnerAlive(owner)).toBe(false)
    expect(isOwnerAlive(newOwner(member.id))).toBe(true)
  })
})
