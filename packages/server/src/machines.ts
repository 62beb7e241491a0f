import {
  type ClusterRouterOptions,
  openCluster,
  openProcessGroup,
  type ServiceCluster,
} from '@tool-hub/cluster/service'
import type { ServiceOptions } from '@tool-hub/config'
import type { Clock, Store } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import type { Authenticator, Identity } from './auth/authenticator.ts'
import { credential } from './auth/sign-in-sessions.ts'
import { aloneGroup, type ProcessGroup } from './call-router.ts'
import { API_HEADERS, refuseOn } from './http/answers.ts'
import type { HttpApp } from './http/create-http-app.ts'
import { EventStream } from './http/event-stream.ts'
import { keepBytes } from './http/request.ts'
import type { WebSocketEndpoint } from './websocket/endpoint.ts'

// What package `cluster` needs of a service to join the other processes that share its store.

/** The processes that share the store of a hub. */
export function openGroup(hub: Hub, store: Store, clock: Clock): ProcessGroup {
  return openProcessGroup(hub, store, clock) ?? aloneGroup
}

/** A service among the others that share its store. */
export interface JoinedService extends Omit<ServiceCluster<Identity>, 'listen'> {
  /** Listens for requests of the others, which the application and the endpoint answer. */
  listen(app: HttpApp, ws: Pick<WebSocketEndpoint, 'accept'>): Promise<string>
}

/** Connects a service with the others that share its store; `undefined` if its store is not shared. */
export async function joinService(
  hub: Hub,
  { cluster: address }: Pick<ServiceOptions, 'cluster'>,
  {
    authenticator,
    ...parts
  }: Pick<ClusterRouterOptions<Identity>, 'events' | 'clock' | 'log'> & {
    readonly store: Store
    readonly authenticator: Pick<Authenticator, 'identify'>
  },
): Promise<JoinedService | undefined> {
  const identify = async (sent: unknown) => {
    const { data } = credential.safeParse(sent)
    return data && authenticator.identify(data)
  }
  const joined = await openCluster(hub, address, { ...parts, identify })
  return (
    joined && {
      ...joined,
      listen: (app, { accept }) =>
        joined.listen({
          headers: API_HEADERS,
          handle: app.listener,
          readBody: (request) => keepBytes(request, app.maxBodyBytes),
          refuse: (response, error) => refuseOn(response, error, app.report),
          report: app.report,
          openStream: (response, limits) => new EventStream(response, { clock: parts.clock, ...limits }),
          accept,
        }),
    }
  )
}
