import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Scope } from '@tool-hub/core/protocol/shapes'
import { openStore } from '@tool-hub/library/stores'
import { type RunningService, type StartServiceOptions, startService } from '@tool-hub/server'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../packages/core/src/options.ts'
import type { NewProcess } from '../../packages/core/src/store/processes.ts'
import type { Store } from '../../packages/core/src/store.ts'
import { defineTool } from '../../packages/core/src/tool.ts'
import { ClusterKey } from '../../packages/server/src/cluster/envelope.ts'
import type { LogEntry } from '../../packages/server/src/service-log.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A service that shares its store with others. */
export interface ClusterService extends RunningService {
  readonly log: LogEntry[]
  readonly store: Store
  /** Where other processes reach it. */
  readonly address: string
  /** Requests with a token, at this process. */
  fetch(path: string, init?: RequestInit & { readonly token?: string; readonly json?: unknown }): Promise<Response>
}

export const whoami = defineTool({
  name: 'whoami',
  description: 'Says in which run it is.',
  input: z.strictObject({}),
  execute: (_, { run }) => ({ run }),
})

/** A tool that waits until it is released, and what happened to its calls. */
export function holdTool() {
  const held = { begun: 0, aborted: 0, release: () => {} }
  const hold = defineTool({
    name: 'hold',
    description: 'Waits until it is released.',
    input: z.strictObject({}),
    execute: (_, ctx) =>
      new Promise<string>((resolve, reject) => {
        const { signal } = ctx
        held.release = () => resolve('released')
        signal.addEventListener('abort', () => {
          held.aborted++
          reject(signal.reason)
        })
        ctx.progress('waiting')
        held.begun++
      }),
  })
  return { hold, held }
}

/** Options of a service; without `openStore`, its store is a file that all share. */
export interface MemberOptions extends StartServiceOptions {
  readonly openStore?: () => Store
}

/** Services on one store, each with folders of its own, as if they were on different machines. */
export async function serveCluster(
  count: number,
  hubOptions: HubOptions = {},
  options: MemberOptions = {},
): Promise<ServedCluster> {
  const folder = temporaryFolder()
  const services: ClusterService[] = []
  for (let index = 0; index < count; index++) services.push(await serveMember(folder, `m${index}`, hubOptions, options))
  return {
    services,
    folder,
    close: async () => void (await Promise.all(services.map((service) => service.close()))),
    async newToken(name, scopes) {
      const response = await services[0]!.fetch('/v1/tokens', { json: { name, scopes } })
      const { token, secret } = (await response.json()) as { token: { id: string }; secret: string }
      return { id: token.id, secret }
    },
  }
}

/** Services that share a store. */
export interface ServedCluster {
  readonly services: ClusterService[]
  /** The folder of all of them, for `serveMember`. */
  readonly folder: string
  newToken(name: string, scopes: readonly Scope[]): Promise<Token>
  close(): Promise<void>
}

/** A token and its secret. */
export interface Token {
  readonly id: string
  readonly secret: string
}

/** One more service on the store in a folder. */
export async function serveMember(
  folder: string,
  name: string,
  hubOptions: HubOptions = {},
  { openStore: open = () => openStore(join(folder, 'shared')), ...options }: MemberOptions = {},
): Promise<ClusterService> {
  const own = open()
  const log: LogEntry[] = []
  const service = await startService(
    {
      runs: join(folder, name, 'runs'),
      data: join(folder, name, 'data'),
      ...hubOptions,
      store: { ...own, location: 'network' },
    },
    { port: 0, shutdownMs: 1_000, onLog: (entry) => log.push(entry), ...options },
  )
  return {
    ...service,
    async close() {
      await service.close()
      await own.close()
    },
    log,
    store: own,
    address: service.hub.cluster!.addressOf(service.hub.cluster!.id)!,
    fetch: (path, { token = service.token, json, headers, ...init } = {}) =>
      fetch(new URL(path, service.url), {
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      }),
  }
}

/** A process as it would describe itself. */
export function newProcess(id: string, address: string): NewProcess {
  const described = {
    host: 'h',
    pid: 1,
    version: '1',
    labels: [],
    running: 0,
    isDraining: false,
    startedAt: Date.now(),
  }
  return { ...described, id, address, kind: 'service' }
}

/** A process that is alive, and whose listener does what a test says; returns a run that it has. */
export async function pretend(
  { store }: ClusterService,
  listener: (key: ClusterKey) => RequestListener,
): Promise<string> {
  const server = createServer(listener(new ClusterKey(await store.settings.secret('cluster'))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  await store.processes.beat(newProcess(`p-${port}`, `http://127.0.0.1:${port}`))
  await store.runStates.lease(`r-${port}`, { owner: `p-${port}` })
  return `r-${port}`
}
