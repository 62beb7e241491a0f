import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Awaitable, CallOptions, ToolResult } from '../../core/index.ts'
import type { ClusterMember } from '../../hub/index.ts'
import type { Identity } from '../auth/authenticator.ts'
import type { RelayedSocket } from './relay-socket.ts'

/** Where a request has to be answered. */
export interface Place {
  readonly process: string
  readonly address?: string
  /** Epoch of the lease; absent if the request concerns no run. */
  readonly epoch?: number
}

/** What the service uses of the membership of its process in a cluster. */
export type Membership = Pick<ClusterMember, 'id' | 'describe' | 'beat' | 'placeOf' | 'leaseOf' | 'processes'>

/** How the transports reach other processes. */
export interface ClusterLink {
  /** Marks an id as one of this process, so that every process knows where what it names is. */
  ownId(id: string): string
  /** Where a run is, if another live process has leased it. */
  placeOf(run: string): Awaitable<Place | undefined>
  /** Where the process of a marked id is, if it is another one that is alive. */
  placeOfId(id: string): Promise<Place | undefined>
  /** Has a request answered elsewhere; returns `false` if it is to be answered here after all. Throws a refusal. */
  answer(
    place: Place,
    exchange: {
      readonly request: IncomingMessage
      readonly response: ServerResponse
      readonly identity: Identity
      readonly run?: string
      readonly body?: Uint8Array
    },
  ): Promise<boolean>
  /** Calls a tool where its run is. */
  call(identity: Identity, tool: string, input: unknown, options: CallOptions): Promise<ToolResult>
  /** Calls a tool here; elsewhere only if its run turns out to have been opened there in the meantime. */
  callHere(identity: Identity, tool: string, input: unknown, options: CallOptions): Promise<ToolResult>
  /** Continues a WebSocket at another process. Throws if that cannot be reached. */
  relay(place: Place, socket: RelayedSocket): Promise<void>
}
