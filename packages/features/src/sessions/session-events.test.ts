import type { FeatureHost } from '@tool-hub/core/feature'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { SessionEvents } from './session-events.ts'

function open() {
  const clock = fakeClock(0)
  const store = createMemoryStore()
  const watching = { now: 0, ever: 0 }
  const { watch } = store.events
  store.events.watch = (listener) => {
    watching.now++
    watching.ever++
    const stop = watch.call(store.events, listener)
    return () => {
      watching.now--
      stop()
    }
  }
  const append = (topic: string, body: unknown) => store.events.append({ topic, body: JSON.stringify(body), at: 0 })
  const emitChange = (feature: string, subject: string) => void append('feature', { feature, subject })
  const events = new SessionEvents({ store, clock, emitChange } as unknown as FeatureHost)
  return { events, clock, watching, append }
}

/** Waits for something that is found at the so-manieth look. */
function waiting({ events }: ReturnType<typeof open>, foundAt: number, more: object = {}) {
  const state = { looks: 0, isOver: false }
  const look = async () => (++state.looks >= foundAt ? 'found' : undefined)
  const outcome = events.until({ subjects: ['s1'], look, withinMs: 5_000, ...more })
  outcome.finally(() => (state.isOver = true)).catch(() => {})
  return { state, outcome }
}

describe('news of sessions', () => {
  it('reach those who listen to that session, while they do', async () => {
    const { events, clock, watching, append } = open()
    const heard: string[] = []
    const stops = ['s1', 's1', 's2'].map((session, n) => events.on(session, () => void heard.push(`${session} ${n}`)))
    events.emit('s1')
    await append('other', { feature: 'sessions', subject: 's1' })
    await append('feature', { feature: 'messages', subject: 's1' })
    await append('feature', { feature: 'sessions' })
    await clock.advance(0)
    expect(heard).toEqual(['s1 0', 's1 1'])
    stops[0]!()
    events.emit('s1')
    await clock.advance(0)
    expect(heard).toEqual(['s1 0', 's1 1', 's1 1'])
    expect(watching).toEqual({ now: 1, ever: 1 })
    for (const stop of stops) stop()
    expect(watching.now).toBe(0)
    events.on('s1', () => {})()
    expect(watching).toEqual({ now: 0, ever: 2 })
  })

  it('that cannot be told do no harm', () => {
    const emitChange = () => {
      throw new Error('The store is gone.')
    }
    const events = new SessionEvents({ emitChange } as unknown as FeatureHost)
    expect(() => events.emit('s1')).not.toThrow()
  })
})

describe('waiting for something', () => {
  it('has it when it is there already', async () => {
    const world = open()
    expect(await waiting(world, 1).outcome).toBe('found')
    expect([world.clock.waiting, world.watching.now]).toEqual([0, 0])
  })

  it('looks every second', async () => {
    const world = open()
    const { state, outcome } = waiting(world, 3)
    await world.clock.advance(999)
    expect(state.looks).toBe(1)
    await world.clock.advance(1)
    expect(state.looks).toBe(2)
    await world.clock.advance(1_000)
    expect(await outcome).toBe('found')
  })

  it('looks at news', async () => {
    const world = open()
    const { outcome } = waiting(world, 2)
    await world.clock.advance(1)
    world.events.emit('s1')
    await world.clock.advance(1)
    expect(await outcome).toBe('found')
    expect(world.clock.waiting).toBe(0)
  })

  it('looks again at news that came while it looked', async () => {
    const world = open()
    let looks = 0
    const look = async () => {
      if (++looks > 1) return 'found'
      world.events.emit('s1')
      await world.clock.advance(0)
      return undefined
    }
    expect(await world.events.until({ subjects: ['s1'], look, withinMs: 5_000 })).toBe('found')
    expect(world.clock.now()).toBe(0)
  })

  it('has nothing when its time is over', async () => {
    const world = open()
    const { state, outcome } = waiting(world, 99, { withinMs: 1_500 })
    await world.clock.advance(1_499)
    expect(state.isOver).toBe(false)
    await world.clock.advance(1)
    expect(await outcome).toBeUndefined()
    expect(await waiting(world, 99, { withinMs: 0 }).outcome).toBeUndefined()
  })

  it('is stopped with its call, and with the hub', async () => {
    const world = open()
    const stop = new AbortController()
    const stopped = waiting(world, 99, { signal: stop.signal })
    const closed = waiting(world, 99)
    await world.clock.advance(1)
    stop.abort(new Error('enough'))
    await expect(stopped.outcome).rejects.toThrow('enough')
    world.events.close()
    await expect(closed.outcome).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'The hub was closed while waiting; sent messages are kept.',
    })
    await expect(waiting(world, 1).outcome).rejects.toThrow('The hub was closed')
    expect([world.clock.waiting, world.watching.now]).toEqual([0, 0])
  })
})
