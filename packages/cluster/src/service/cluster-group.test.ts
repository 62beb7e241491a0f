import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import type { Store } from '@tool-hub/core'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { startService } from '../../../server/src/start-service.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { describeCluster } from './cluster-group.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A service on a store that others share, or on one of its own. */
async function start({ location }: Partial<Pick<Store, 'location'>> = {}) {
  const home = temporaryFolder()
  const own = openStore(join(home, 'data'))
  const store = { ...own, location: location ?? own.location }
  const options = { store, runs: join(home, 'runs'), data: join(home, 'data') }
  const service = await startService(options, { port: 0, shutdownMs: 100 })
  ends.push(async () => {
    await service.close()
    await store.close()
  })
  const get = (path: string, token = service.token) =>
    fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { store, cluster: service.hub.cluster, owner: createClient({ url: service.url, token: service.token }), get }
}

it('GET /v1/cluster and /metrics show the processes that share the store, and who has leased a run', async () => {
  const { store, cluster: member, owner, get } = await start({ location: 'network' })
  await store.processes.beat({
    ...{ id: 'p-other', kind: 'worker', host: 'gpu-1\u0007', pid: 7, version: '9.9.9', labels: ['gpu'], running: 2 },
    ...{ concurrency: 4, isDraining: true, policy: 'other', startedAt: 1 },
  })
  await store.runStates.lease('moved', { owner: 'p-other', principal: 'token:ada' })
  await member!.lease('here', undefined)
  const cluster = await owner.cluster()
  const self = cluster.self!
  expect(cluster).toMatchObject({ isCutOff: false, hasMoreLeases: false, queues: [] })
  expect(cluster.leases).toEqual(
    expect.arrayContaining([
      { run: 'moved', process: 'p-other', epoch: 1, leasedAt: expect.any(Number), principal: 'token:ada' },
      expect.objectContaining({ run: 'here', process: self, epoch: 1 }),
    ]),
  )
  expect(cluster.processes.find(({ id }) => id === 'p-other')).toMatchObject({
    ...{ kind: 'worker', host: 'gpu-1\\u{7}', labels: ['gpu'], running: 2, concurrency: 4, isDraining: true },
    isAlive: true,
  })
  expect(cluster.processes.find(({ id }) => id === self)).toMatchObject({ isAlive: true, isDraining: false })
  const metrics = await (await get('/metrics')).text()
  for (const line of [
    'tool_hub_cluster_cut_off 0',
    'tool_hub_cluster_processes{kind="worker"} 1',
    'tool_hub_cluster_processes_draining 1',
    'tool_hub_cluster_worker_concurrency 4',
    'tool_hub_cluster_leases{owner="self"} 1',
    'tool_hub_cluster_leases{owner="other"} 1',
    'tool_hub_records_unshared_bytes 0',
    'tool_hub_records_share_lag_seconds 0',
    'tool_hub_cluster_calls_running{process="p-other",kind="worker",host="gpu-1\\\\u{7}"} 2',
  ])
    expect(metrics).toContain(`\n${line}\n`)
})

it('a service that is alone with its store has no cluster, and only readers may ask', async () => {
  const { owner, get } = await start()
  expect(await owner.cluster()).toEqual({
    ...{ isCutOff: false, processes: [], leases: [], hasMoreLeases: false, queues: [] },
  })
  expect(await (await get('/metrics')).text()).not.toContain('tool_hub_cluster_')
  const { secret } = await owner.tokens.create({ name: 'agent', scopes: ['call'] })
  expect((await get('/v1/cluster', secret)).status).toBe(403)
})

it('compares heartbeats and rules, and puts the processes that are gone last', async () => {
  const clock = fakeClock()
  const store = openStore(temporaryFolder(), { now: clock.now })
  ends.push(async () => store.close())
  const common = {
    kind: 'service',
    host: 'h',
    pid: 1,
    version: '1',
    labels: [],
    running: 0,
    isDraining: false,
  } as const
  await store.processes.beat({ ...common, id: 'p-gone', policy: 'old', startedAt: 1 })
  await clock.advance(12_000)
  await store.processes.beat({ ...common, id: 'p-other', policy: 'new', startedAt: 2 })
  await store.processes.beat({ ...common, id: 'p-bare', startedAt: 3 })
  await clock.advance(3_000)
  await store.processes.beat({ ...common, id: 'p-self', policy: 'old', startedAt: 4 })
  for (const [id, queue] of [
    ['c1', 'worker:eu,gpu'],
    ['c2', 'worker'],
  ] as const)
    await store.workerCalls.add({ id, queue, run: 'r', queuedAt: clock.now() - 5_000 })
  const cluster = { id: 'p-self', isCut: true }
  const state = await describeCluster({ cluster, store, now: clock.now() })
  expect(state).toMatchObject({ self: 'p-self', isCutOff: true })
  expect(state.queues).toEqual(
    expect.arrayContaining([
      { labels: 'eu,gpu', waiting: 1, running: 0, oldestMs: 5_000 },
      { labels: '', waiting: 1, running: 0, oldestMs: 5_000 },
    ]),
  )
  expect(
    state.processes.map(({ id, isAlive, silentMs, hasOtherRules }) => [id, isAlive, silentMs, hasOtherRules]),
  ).toEqual([
    ['p-other', true, 3_000, true],
    ['p-bare', true, 3_000, false],
    ['p-self', true, 0, false],
    ['p-gone', false, 15_000, false],
  ])
})
