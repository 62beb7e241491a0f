import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ToolError } from '@tool-hub/core'
import { family } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { closeServer, listening, parseListen } from '@tool-hub/sandbox/system'
import type { RunningWorker } from '../workers/worker-options.ts'
import { memberMetrics } from './cluster-metrics.ts'

/** What the metrics of a worker are about. */
export interface WorkerMetricsSource {
  readonly hub: Pick<Hub, 'metrics' | 'cluster' | 'sharing'>
  readonly worker: Pick<RunningWorker, 'running' | 'concurrency'>
  /** What every process reports of itself. */
  readonly processMetrics: () => Promise<string>
}

/** Where the metrics of a worker can be read. */
export interface WorkerMetricsServer {
  readonly url: string
  close(): Promise<void>
}

const GRACE_MS = 1_000
const TIMEOUT_MS = 10_000

/**
 * Serves `/metrics` and `/healthz` of a worker, without a token: a worker cannot read the tokens. Rejects with
 * CONFIG_INVALID if it cannot listen there.
 */
export async function serveWorkerMetrics(listen: string, source: WorkerMetricsSource): Promise<WorkerMetricsServer> {
  const where = parseListen(listen)
  if (!where)
    throw new ToolError('CONFIG_INVALID', `worker.metrics is ${JSON.stringify(listen)}, not an address and a port.`, {
      hint: 'Write it as 127.0.0.1:9464, or 0.0.0.0:9464 in a private network.',
    })
  const server = createServer({ requestTimeout: TIMEOUT_MS }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const answer = (status: number, type: string, text: string) => {
      response.writeHead(status, {
        'content-type': type,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      })
      response.end(text)
    }
    request.resume()
    if (isRead && request.url === '/healthz') return answer(200, 'text/plain; charset=utf-8', 'ok\n')
    if (!isRead || request.url !== '/metrics') return answer(404, 'text/plain; charset=utf-8', 'Use /metrics.\n')
    workerMetrics(source).then(
      (text) => answer(200, 'text/plain; version=0.0.4; charset=utf-8', text),
      () => answer(500, 'text/plain; charset=utf-8', 'The metrics could not be read.\n'),
    )
  })
  server.maxConnections = 100
  await listening(server, where.host, where.port)
  server.unref()
  const { address, family: kind, port } = server.address() as AddressInfo
  return {
    url: `http://${kind === 'IPv6' ? `[${address}]` : address}:${port}/metrics`,
    close: () => closeServer(server, { graceMs: GRACE_MS, upgraded: new Set() }),
  }
}

async function workerMetrics({ hub, worker, processMetrics }: WorkerMetricsSource): Promise<string> {
  const own = [
    family('gauge', 'tool_hub_worker_running', 'Calls that this worker executes now.', [{ value: worker.running }]),
    family('gauge', 'tool_hub_worker_concurrency', 'How many calls it executes concurrently.', [
      { value: worker.concurrency },
    ]),
  ]
  return [await hub.metrics(), ...own, await processMetrics(), memberMetrics(hub)].join('')
}
