import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openStore } from '../sqlite.ts'

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
