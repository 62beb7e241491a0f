import { type Clock, defineFeatureRoute, type FeatureRoutes, type Store } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { type ClusterState, clusterState } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import type { ClusterMember } from '../membership/cluster-member.ts'
import type { StoredProcess } from '../store/types.ts'
import type { ProcessGroup } from './call-router.ts'

/** The most leases that are read to find the runs of other processes, and that are shown. */
const MAX_LEASES = 1_000_000
const MAX_SHOWN_LEASES = 500

/** The processes that share the store of a hub; `undefined` if it is not shared. */
export function openProcessGroup(
  hub: Pick<Hub, 'cluster' | 'sharing'>,
  store: Store,
  clock: Clock,
): ProcessGroup | undefined {
  const { cluster: member } = hub
  if (!member) return undefined
  return {
    hasOthers: true,
    get isCutOff() {
      return member.isCut
    },
    get refusesRecords() {
      return hub.sharing?.isRefused ?? false
    },
    async runsOfOthers() {
      const leased = await store.runStates.leases({ limit: MAX_LEASES })
      return leased.flatMap(({ run, owner }) => (owner === member.id ? [] : [run]))
    },
    takeTurn(work, forMs) {
      const now = clock.now()
      return store.slots.lease(work, { owner: member.id, now, until: now + forMs })
    },
    publishRules: (hash) => member.describe({ policy: hash }),
    publishDraining: () => member.describe({ isDraining: true }),
  }
}

/** Options of `describeCluster`. */
export interface ClusterStateOptions {
  /** This process in the cluster; `undefined` if it is alone with its store. */
  readonly cluster: Pick<ClusterMember, 'id' | 'isCut'> | undefined
  readonly store: Pick<Store, 'processes' | 'runStates' | 'workerCalls'>
  readonly now: number
  /** How far this process is with sharing its records. */
  readonly records?: ClusterState['records']
}

/** Describes the processes that share the store, their leases and the queues. Rejects if the store does not answer. */
export async function describeCluster(options: ClusterStateOptions): Promise<ClusterState> {
  const { cluster, store, records, now } = options
  if (!cluster) return { isCutOff: false, processes: [], leases: [], hasMoreLeases: false, queues: [] }
  const [processes, leases, waiting] = await Promise.all([
    store.processes.list(),
    store.runStates.leases({ limit: MAX_SHOWN_LEASES + 1 }),
    store.workerCalls.queues(),
  ])
  const own = processes.find(({ id }) => id === cluster.id)
  const newest = Math.max(...processes.map(({ seenAt }) => seenAt))
  return {
    self: cluster.id,
    isCutOff: cluster.isCut,
    processes: processes
      .toSorted((a, b) => Number(b.isAlive) - Number(a.isAlive) || a.startedAt - b.startedAt)
      .map((each) => entryOf(each, { newest, policy: own?.policy })),
    leases: leases
      .filter((lease) => lease.owner !== undefined)
      .toSorted((a, b) => (b.leasedAt ?? 0) - (a.leasedAt ?? 0))
      .slice(0, MAX_SHOWN_LEASES)
      .map(({ run, owner, epoch, leasedAt, principal }) => ({
        run: escapeLine(run),
        process: owner!,
        epoch,
        ...(leasedAt !== undefined && { leasedAt }),
        ...(principal !== undefined && { principal: escapeLine(principal) }),
      })),
    hasMoreLeases: leases.length > MAX_SHOWN_LEASES,
    queues: waiting.map(({ queue, oldestAt, ...counts }) => ({
      labels: queue.replace(/^worker:?/, ''),
      ...counts,
      ...(oldestAt !== undefined && { oldestMs: Math.max(0, now - oldestAt) }),
    })),
    ...(records && { records }),
  }
}

/** The heartbeats are compared with each other, because the clock of this machine may differ from the database's. */
function entryOf(
  process: StoredProcess,
  { newest, policy }: { readonly newest: number; readonly policy: string | undefined },
): ClusterState['processes'][number] {
  const { id, kind, address, host, pid, version, labels, running, concurrency, isDraining, startedAt } = process
  const hasOtherRules = policy !== undefined && process.policy !== undefined && process.policy !== policy
  return {
    ...{ id, kind, pid, running, isDraining, hasOtherRules, startedAt },
    host: escapeLine(host),
    version: escapeLine(version),
    labels: labels.map(escapeLine),
    ...(address !== undefined && { address: escapeLine(address) }),
    ...(concurrency !== undefined && { concurrency }),
    silentMs: newest - process.seenAt,
    isAlive: process.isAlive,
  }
}

/** The HTTP route of the processes that share the store. */
export const machineRoutes: FeatureRoutes = {
  schemas: { Cluster: clusterState },
  routes: [
    defineFeatureRoute({
      method: 'get',
      path: '/v1/cluster',
      client: 'cluster',
      summary: 'The processes that share the store, their leases and queues',
      allow: ['read'],
      answers: [{ description: 'Empty lists if the service is alone with its store', schema: clusterState }],
      handle: ({ hub: { cluster, sharing }, store }) =>
        describeCluster({ cluster, store, records: sharing, now: cluster?.now() ?? 0 }),
    }),
  ],
}
