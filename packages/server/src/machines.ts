import type { RunningWorker, WorkerOptions } from '@tool-hub/cluster'
import {
  type ClusterRouterOptions,
  openCluster,
  openProcessGroup,
  type ServiceCluster,
  serveWorkerMetrics,
  type WorkerMetricsServer,
} from '@tool-hub/cluster/service'
import type { ServiceOptions } from '@tool-hub/config'
import type { AnyTool, Clock, HubOptions, Store } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStoreOf } from '@tool-hub/library/stores'
import type { Hub } from '@tool-hub/runtime/hub'
import type { Authenticator, Identity } from './auth/authenticator.ts'
import { credential } from './auth/sign-in-sessions.ts'
import { aloneGroup, type ProcessGroup } from './call-router.ts'
import { API_HEADERS, refuseOn } from './http/answers.ts'
import type { HttpApp } from './http/create-http-app.ts'
import { EventStream } from './http/event-stream.ts'
import { keepBytes } from './http/request.ts'
import { processMetrics } from './services/metrics.ts'
import type { WebSocketEndpoint } from './websocket/endpoint.ts'

// What package `cluster` needs of a service or a worker to join the other processes that share its store.

export type { RunningWorker, WorkerLogEntry, WorkerOptions } from '@tool-hub/cluster'

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
    readonly group: ProcessGroup
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

/** Options of `startWorker`. */
export interface StartWorkerOptions extends WorkerOptions {
  /** Address and port at which its metrics can be read, without a token: `127.0.0.1:9464`. Default: nowhere. */
  readonly metrics?: string
}

/** A worker with its hub. */
export interface StartedWorker {
  /** Takes and executes calls of other processes. */
  readonly worker: RunningWorker
  /** The hub whose tools it executes. */
  readonly hub: Hub
  /** Where its metrics can be read, if that was asked for. */
  readonly metricsUrl?: string
  /**
   * Takes no more calls, lets those that run end for at most `timeoutMs`, and closes everything. Default: until they end.
   * Returns whether all of them ended by themselves.
   */
  drain(options?: { readonly timeoutMs?: number }): Promise<boolean>
  /** Stops the calls that run, and closes everything. */
  close(): Promise<void>
}

/**
 * Starts a worker: a process with the same config and tools as the services, which executes their calls that belong on it.
 * @example
 * const { options, worker } = await loadConfig()
 * const started = await startWorker(options, worker)
 * process.once('SIGTERM', () => started.drain({ timeoutMs: 30_000 }))
 */
export async function startWorker(
  hubOptions: HubOptions,
  { metrics: listen, ...options }: StartWorkerOptions = {},
): Promise<StartedWorker> {
  const store = hubOptions.store ?? openStoreOf(hubOptions)
  // First, so that a wrong store is reported once: the hub starts sources that use it.
  if (store.location === 'network')
    await store.check().catch(async (error) => {
      if (!hubOptions.store) await store.close()
      throw error
    })
  // Without `principals`: the process of the run knows which still exist, and a worker must not read the tokens.
  const hub: Hub = createToolHub<readonly AnyTool[]>({ ...hubOptions, store })
  let metrics: WorkerMetricsServer | undefined
  const close = async () => {
    await metrics?.close()
    await hub.close({ abort: true })
    if (!hubOptions.store) await store.close()
  }
  try {
    const worker = await hub.work(options)
    if (listen !== undefined)
      metrics = await serveWorkerMetrics(listen, { hub, worker, processMetrics: () => processMetrics(store) })
    return {
      worker,
      hub,
      ...(metrics && { metricsUrl: metrics.url }),
      async drain(limits) {
        const isDrained = await worker.drain(limits)
        await close()
        return isDrained
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
