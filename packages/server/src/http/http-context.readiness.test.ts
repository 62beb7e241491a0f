import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { Readiness } from './http-context.ts'

const fine = {
  check: () => {},
  checkRecords: async () => {},
  ready: async () => {},
  limit: 1_024,
  open: () => 100,
  group: { isCutOff: false, refusesRecords: false },
}

/** A service whose parts a test can break and repair. */
function probe(state: {
  check: () => unknown
  checkRecords: () => Promise<void>
  ready: () => Promise<void>
  limit: number
  open: () => number
  group: { isCutOff: boolean; refusesRecords: boolean }
}) {
  const clock = fakeClock()
  const service = {
    store: { check: () => state.check() },
    checkRecords: () => state.checkRecords(),
    hub: { ready: () => state.ready() },
    group: state.group,
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

it.each(['check', 'checkRecords', 'ready'] as const)('answers within 1.5 s if a part hangs: %s', async (part) => {
  let calls = 0
  const hang = () => {
    calls++
    return new Promise<void>(() => {})
  }
  const state = { ...fine, [part]: hang }
  const { clock, problem } = probe(state)
  const answer = problem()
  await clock.advance(1_500)
  const name = { check: 'store', checkRecords: 'records', ready: 'tools' }[part]
  expect(await answer).toEqual({ part: name, problem: 'The check takes more than 1500 ms.' })
  // Nobody waits for a check that hangs already, and no other one is started meanwhile.
  await clock.advance(2_000)
  expect(await problem()).toMatchObject({ part: name })
  expect(calls).toBe(1)
  Object.assign(state, fine)
  await clock.advance(1_500)
  await eventually(async () => expect(await problem()).toBeUndefined())
})

it('knows without a check that it is cut off from the shared store', async () => {
  const state = { ...fine, group: { ...fine.group, isCutOff: true }, check: () => new Promise<void>(() => {}) }
  const { clock, problem } = probe(state)
  expect(await problem()).toEqual({ part: 'store', problem: 'This process is cut off from the shared store.' })
  state.group.isCutOff = false
  state.check = async () => {}
  await clock.advance(1_000)
  expect(await problem()).toBeUndefined()
})

it('is not ready while the shared store refuses records', async () => {
  const state = { ...fine, group: { ...fine.group, refusesRecords: true } }
  const { clock, problem } = probe(state)
  expect(await problem()).toEqual({ part: 'records', problem: 'The shared store refuses the records of calls.' })
  state.group.refusesRecords = false
  await clock.advance(1_000)
  expect(await problem()).toBeUndefined()
})

it('is not ready while nothing can be recorded', async () => {
  const state = { ...fine, checkRecords: async () => Promise.reject(new Error('the disk is full')) }
  const { clock, problem } = probe(state)
  expect(await problem()).toEqual({ part: 'records', problem: expect.stringContaining('cannot be recorded') })
  state.checkRecords = async () => undefined as never
  await clock.advance(1_000)
  expect(await problem()).toBeUndefined()
})
