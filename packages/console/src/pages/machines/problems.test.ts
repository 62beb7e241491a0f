import { expect, it } from 'vitest'
import type { ClusterState } from '../../api/types.ts'
import { findProblems } from './problems.ts'

type Process = ClusterState['processes'][number]

function processOf(change: Partial<Process>): Process {
  return {
    ...{ id: 'p', kind: 'service', host: 'a', pid: 1, version: '1.0.0', labels: [], running: 0, isDraining: false },
    ...{ hasOtherRules: false, startedAt: 0, silentMs: 0, isAlive: true },
    ...change,
  }
}

function clusterOf(change: Partial<ClusterState>): ClusterState {
  return { self: 'p', isCutOff: false, processes: [], leases: [], hasMoreLeases: false, queues: [], ...change }
}

it('finds nothing in a cluster whose processes agree', () => {
  const processes = [processOf({}), processOf({ id: 'w', kind: 'worker', labels: ['gpu', 'eu'] })]
  const queues = [{ labels: 'gpu', waiting: 3, running: 1 }]
  expect(findProblems(clusterOf({ processes, queues }))).toEqual([])
})

it('names what a person should look at, the worst first', () => {
  const processes = [
    processOf({}),
    processOf({ id: 'q', host: 'b', pid: 2, hasOtherRules: true, version: '2.0.0' }),
    processOf({ id: 'gone', host: 'c', version: '0.9.0', isAlive: false, hasOtherRules: true }),
    processOf({ id: 'w', kind: 'worker', labels: ['gpu'], isDraining: true }),
  ]
  const queues = [
    { labels: 'gpu', waiting: 1, running: 0 },
    { labels: '', waiting: 2, running: 0 },
    { labels: 'eu', waiting: 0, running: 1 },
  ]
  const found = findProblems(clusterOf({ isCutOff: true, processes, queues }))
  expect(found.map(({ tone, title }) => [tone, title])).toEqual([
    ['bad', 'The service that answers this page has lost PostgreSQL'],
    ['bad', '1 call waits for a worker with the labels gpu, and none is running'],
    ['bad', '2 calls wait for a worker, and none is running'],
    ['warn', 'Other processes have different rules: b (2)'],
    ['info', 'Several versions of tool-hub are running: 1.0.0, 2.0.0'],
  ])
})
