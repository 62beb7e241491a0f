import type { RunningWorker, WorkerOptions } from '@tool-hub/cluster'
import { serveWorkerMetrics, type WorkerMetricsServer } from '@tool-hub/cluster/service'
import type { AnyTool, HubOptions } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStoreOf } from '@tool-hub/library/stores'
import type { Hub } from '@tool-hub/runtime/hub'
import { processMetrics } from './services/metrics.ts'

export type { RunningWorker, WorkerLogEntry, WorkerOptions } from '@tool-hub/cluster'

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
