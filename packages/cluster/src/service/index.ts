import { lazyModule, type Store, ToolError } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import { isLoopback, parseListen } from '@tool-hub/sandbox/system'
import type { ClusterOptions } from '../config.ts'
import type { AnsweringService, ForwardableIdentity } from './call-router.ts'
import { describeCluster, openProcessGroup } from './cluster-group.ts'
import { clusterMetrics, memberMetrics } from './cluster-metrics.ts'
import type { ClusterRouter, ClusterRouterOptions } from './cluster-router.ts'

export type {
  CallRouter,
  Concern,
  OtherProcesses,
  ProcessGroup,
  RoutedCall,
  SharedEvents,
} from './call-router.ts'
export { serveWorkerMetrics, type WorkerMetricsServer } from './worker-metrics.ts'
export type { ClusterRouterOptions }
export { openProcessGroup }

const loadRouter = lazyModule(() => import('./cluster-router.ts'))

/** The part of a service that belongs to its cluster. */
export interface ServiceCluster<Identity extends ForwardableIdentity> {
  readonly router: ClusterRouter<Identity>
  /** Listens for other processes. */
  listen(service: AnsweringService<Identity>): Promise<string>
  /** The metrics of all processes, and of what was forwarded to them. */
  metrics(): Promise<string>
}

/** Connects a service with the others that share its store; `undefined` if its store is not shared. */
export async function openCluster<Identity extends ForwardableIdentity>(
  hub: Pick<Hub, 'cluster' | 'sharing'>,
  { listen, address }: ClusterOptions = {},
  {
    store,
    ...parts
  }: Omit<ClusterRouterOptions<Identity>, 'member' | 'secret'> & {
    readonly store: Store
  },
): Promise<ServiceCluster<Identity> | undefined> {
  const { cluster: member } = hub
  if (!member) {
    if (listen === undefined && address === undefined) return undefined
    throw invalid(
      'cluster',
      'cluster is set, but the store of this service is not shared with other processes.',
      'Set store to a PostgreSQL URL, or remove cluster.',
    )
  }
  const where = readListen(listen, address)
  const { ClusterRouter } = await loadRouter()
  const router = new ClusterRouter({ ...parts, member, secret: await store.settings.secret('cluster') })
  member.describe({ kind: 'service' })
  const state = () => describeCluster({ cluster: member, store, records: hub.sharing, now: parts.clock.now() })
  return {
    router,
    listen: (service) => router.listen({ ...where, address: address && new URL(address).origin }, service),
    metrics: async () => memberMetrics(hub) + clusterMetrics(await state().catch(() => undefined), router.forwarded),
  }
}

/** Reads `cluster.listen`; throws CONFIG_INVALID if others could not reach it, or if the address has more than an origin. */
function readListen(
  listen: string | undefined,
  address: string | undefined,
): { readonly host: string; readonly port: number } {
  if (address !== undefined) assertReachable(address)
  if (listen === undefined) {
    if (address === undefined) return { host: '127.0.0.1', port: 0 }
    throw invalid(
      'cluster.listen',
      `cluster.address is ${address}, and cluster.listen is not set.`,
      `Set the address and port to listen on: 0.0.0.0:${new URL(address).port || 4041}`,
    )
  }
  const where = parseListen(listen)
  if (!where)
    throw invalid(
      'cluster.listen',
      `cluster.listen is ${JSON.stringify(listen)}, which is not an address and a port.`,
      'Write it as 10.0.0.7:4041, or [2001:db8::7]:4041.',
    )
  const { host, port } = where
  if (address === undefined && !isLoopback(host))
    throw invalid(
      'cluster.address',
      `cluster.listen is ${listen}, and cluster.address is not set.`,
      `Set the URL at which other machines reach it: http://${isAnyAddress(host) ? `HOST:${port}` : listen}`,
    )
  return where
}

/** Throws CONFIG_INVALID if others cannot connect to the address, or if it has more than an origin. */
function assertReachable(address: string): void {
  const { origin, hostname } = new URL(address)
  if (origin !== address.replace(/\/$/, ''))
    throw invalid(
      'cluster.address',
      `cluster.address is ${address}, which has more than a scheme, a host and a port.`,
      `Set it to ${origin}`,
    )
  if (isAnyAddress(hostname))
    throw invalid(
      'cluster.address',
      `cluster.address is ${address}, at which no other machine reaches this one.`,
      'Set it to the name or address of this machine: http://10.0.0.7:4041',
    )
}

/** Whether a host stands for all addresses of a machine: one can listen on it, and not connect to it. */
function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]'
}

function invalid(key: string, message: string, hint: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { fix: { key, hint } })
}
