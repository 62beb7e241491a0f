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

/** The part of `ClusterMember` that the service uses. */
export type Membership = Pick<ClusterMember, 'id' | 'describe' | 'beat' | 'placeOf' | 'leaseOf' | 'processes'>

/** How the transports reach other processes. */
export interface ClusterLink {
  /** Marks an id as one of this process, so that every process knows where to find the object that it names. */
  ownId(id: string): string
  /** Where a run is, if another live process has leased it. */
  placeOf(run: string): Awaitable<Place | undefined>
  /** Where the process of a marked id is, if it is another one that is alive. */
  placeOfId(id: string): Promise<Place | undefined>
  /** Forwards a request and passes its answer on; returns `false` if it must be answered here. Throws a refusal. */
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
  /** Connects a WebSocket to another process. Throws if that process cannot be reached. */
  relay(place: Place, socket: RelayedSocket): Promise<void>
}
