import { expect, it } from 'vitest'
import { ToolError } from '../../core/errors.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Readiness } from './http-context.ts'

const fine = { check: () => {}, checkRecords: async () => {}, ready: async () => {}, limit: 1_024, open: () => 100 }

/** A service whose parts a test can break and repair. */
function probe(state: {
  check: () => unknown
  checkRecords: () => Promise<void>
  ready: () => Promise<void>
  limit: number
  open: () => number
}) {
  const clock = fakeClock()
  const service = {
    store: { check: () => state.check() },
    checkRecords: () => state.checkRecords(),
    hub: { ready: () => state.ready() },
  }
  const readiness = new Readiness(service as never, clock, { limit: () => state.limit, open: () => state.open() })
  return { clock, problem: () => readiness.problem() }
}

it('is ready while at least 64 descriptors are free, and again as soon as they are', async () => {
  const state = { ...fine, open: () => 960 }
  const { clock, problem } = probe(state)
  expect(await problem()).toBeUndefined()
  state.open = () => 961
  await clock.advance(999)
  expect(await problem()).toBeUndefined()
  await clock.advance(1)
  expect(await problem()).toEqual({
    part: 'descriptors',
    problem: 'File descriptors are nearly exhausted: 961 of 1024 are open.',
  })
  state.open = () => 500
  await clock.advance(1_000)
  expect(await problem()).toBeUndefined()
})

it('is not ready when not even one descriptor is left to look', async () => {
  const open = () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  }
  expect(await probe({ ...fine, open }).problem()).toMatchObject({
    part: 'descriptors',
    problem: 'File descriptors are exhausted.',
  })
})

it('says nothing of descriptors where the system does not tell', async () => {
  expect(await probe({ ...fine, limit: Number.POSITIVE_INFINITY, open: () => 1e6 }).problem()).toBeUndefined()
})

it('names the store and the tools when they fail, and no more of them', async () => {
  const check = () => {
    throw new Error('/home/ada/store.db is damaged')
  }
  expect(await probe({ ...fine, check }).problem()).toEqual({ part: 'store', problem: 'The store cannot be used.' })
  const ready = () => Promise.reject(new Error('secret'))
  expect(await probe({ ...fine, ready }).problem()).toEqual({ part: 'tools', problem: 'The tools are not ready.' })
})

it.each([
  ['older', 'The store is older than it was: see tool-hub store check.'],
  ['replaced', 'The store was removed or replaced while it is in use.'],
])('says of a store that is %s what everybody may know', async (store, problem) => {
  const check = () => {
    throw new ToolError('CONFIG_INVALID', '/home/ada/store.db', { details: { store } })
  }
  expect(await probe({ ...fine, check }).problem()).toEqual({ part: 'store', problem })
})

it('does not wait for ever', async () => {
  const { clock, problem } = probe({ ...fine, ready: () => new Promise<void>(() => {}) })
  const answer = problem()
  await clock.advance(5_000)
  expect(await answer).toMatchObject({ part: 'tools' })
})

it('is not ready while nothing can be recorded', async () => {
  const state = { ...fine, checkRecords: async () => Promise.reject(new Error('the disk is full')) }
  const { clock, problem } = probe(state)
  expect(await problem()).toEqual({ part: 'records', problem: expect.stringContaining('cannot be recorded') })
  state.checkRecords = async () => undefined as never
  await clock.advance(1_000)
  expect(await problem()).toBeUndefined()
})
