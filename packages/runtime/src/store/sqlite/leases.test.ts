import { openStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'

const PROCESS = {
  ...{ kind: 'service' as const, host: 'one', pid: 7, version: '1.0.0', labels: [], running: 0, isDraining: false },
  startedAt: 5,
}

it('takes the run of a process whose heartbeats stopped, 10 s after the last one and not before', async () => {
  let now = 1_000_000
  const folder = temporaryFolder('leases')
  const [one, other] = [openStore(folder, { now: () => now }), openStore(folder, { now: () => now })]
  await one.processes.beat({ ...PROCESS, id: 'a' })
  const first = await one.runStates.lease('r', { owner: 'a' })
  expect(first).toMatchObject({ owner: 'a', epoch: 1, leasedAt: 1_000_000 })
  now += 9_999
  await other.processes.beat({ ...PROCESS, id: 'b' })
  expect(await other.processes.list()).toMatchObject([{ id: 'a', isAlive: true }, { id: 'b' }])
  expect(await other.runStates.lease('r', { owner: 'b' })).toMatchObject({ owner: 'a', epoch: 1 })
  now += 1
  expect(await other.processes.list()).toMatchObject([
    { id: 'a', isAlive: false },
    { id: 'b', isAlive: true },
  ])
  expect(await other.runStates.lease('r', { owner: 'b' })).toMatchObject({ owner: 'b', epoch: 2, leasedAt: 1_010_000 })
  await one.processes.beat({ ...PROCESS, id: 'a' })
  expect(await one.runStates.renew('r', { owner: 'a', epoch: 1 })).toBe(false)
  now += 86_400_000
  await other.sweep(now)
  expect(await other.processes.list()).toEqual([])
  await one.close()
  await other.close()
})

it('renews the lease of a process that has the run already, and says when', async () => {
  let now = 1_000
  const store = openStore(temporaryFolder('leases'), { now: () => now })
  await store.runStates.lease('r', { owner: 'a' })
  now = 2_000
  const renewed = await store.runStates.lease('r', { owner: 'a' })
  expect(renewed).toMatchObject({ owner: 'a', epoch: 1, leasedAt: 2_000, takenFrom: 'a' })
  expect(await store.runStates.find('r')).toMatchObject({ owner: 'a', epoch: 1, leasedAt: 2_000 })
  await store.close()
})

it('keeps the result of a key only for the process that still has the run', async () => {
  const store = openStore(temporaryFolder('leases'))
  await store.processes.beat({ ...PROCESS, id: 'b' })
  const { epoch } = await store.runStates.lease('r', { owner: 'a' })
  const finish = async (key: string, held: { run: string; owner: string; epoch: number }) => {
    await store.keys.claim(key, { argsHash: 'h', owner: 'o', now: 0 })
    await store.keys.finish(key, { owner: 'o', result: '"done"', expiresAt: 9, held })
    return store.keys.look(key)
  }
  const held = { run: 'r', owner: 'a', epoch }
  expect(await finish('k1', held)).toMatchObject({ state: 'finished', result: '"done"', expiresAt: 9 })
  await store.runStates.lease('r', { owner: 'b' })
  expect(await finish('k2', held)).toEqual({ argsHash: 'h', state: 'finished', owner: 'o', expiresAt: 9 })
  expect(await finish('k3', { ...held, owner: 'b', epoch: 2 })).toMatchObject({ result: '"done"' })
  await store.close()
})
