import type { ServiceOptions } from '../../config/index.ts'
import { lazyModule, type Store, ToolError } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { isLoopback } from '../listen.ts'
import type { ClusterTransport, ClusterTransportOptions } from './cluster-transport.ts'

export type { ClusterLink, Place } from './cluster-link.ts'
export type { ForwardCounts } from './forwarder.ts'

const loadTransport = lazyModule(() => import('./cluster-transport.ts'))

type ListenParts = Parameters<ClusterTransport['listen']>[1]

/** The part of a service that belongs to its cluster. */
interface ServiceCluster {
  readonly transport: ClusterTransport
  /** Listens for other processes. */
  listen(parts: ListenParts): Promise<string>
}

/** Connects a service with the others that share its store; `undefined` if its store is not shared. */
export async function openCluster(
  { cluster: member }: Pick<Hub, 'cluster'>,
  { cluster: { listen = '127.0.0.1:0', address } = {} }: Pick<ServiceOptions, 'cluster'>,
  { store, ...parts }: Omit<ClusterTransportOptions, 'member' | 'secret'> & { readonly store: Store },
): Promise<ServiceCluster | undefined> {
  if (!member) return undefined
  const where = readListen(listen, address)
  const { ClusterTransport } = await loadTransport()
  const transport = new ClusterTransport({ ...parts, member, secret: await store.settings.secret('cluster') })
  member.describe({ kind: 'service' })
  return {
    transport,
    listen: (own) => transport.listen({ ...where, address: address && new URL(address).origin }, own),
  }
}

const LISTEN = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i

/** Reads `cluster.listen`; throws CONFIG_INVALID if others could not reach it, or if the address has more than an origin. */
function readListen(listen: string, address: string | undefined): { readonly host: string; readonly port: number } {
  const [, host = '', digits = ''] = LISTEN.exec(listen) ?? []
  const port = Number(digits)
  if (host === '' || port > 65_535) {
    throw new ToolError(
      'CONFIG_INVALID',
      `cluster.listen is ${JSON.stringify(listen)}, which is not an address and a port.`,
      {
        fix: { key: 'cluster.listen', hint: 'Write it as 10.0.0.7:4041, or [2001:db8::7]:4041.' },
      },
    )
  }
  if (address === undefined && !isLoopback(host)) {
    throw new ToolError('CONFIG_INVALID', `cluster.listen is ${listen}, and cluster.address is not set.`, {
      fix: { key: 'cluster.address', hint: `Set the URL at which other machines reach it: http://${host}:${port}` },
    })
  }
  if (address !== undefined && new URL(address).origin !== address.replace(/\/$/, '')) {
    throw new ToolError(
      'CONFIG_INVALID',
      `cluster.address is ${address}, which has more than a scheme, a host and a port.`,
      {
        fix: { key: 'cluster.address', hint: `Set it to ${new URL(address).origin}` },
      },
    )
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port }
}
