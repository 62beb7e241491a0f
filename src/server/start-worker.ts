import { type AnyTool, type HubOptions, systemClock } from '../core/index.ts'
import { createToolHub } from '../create-tool-hub.ts'
import type { Hub, RunningWorker, WorkerOptions } from '../hub/index.ts'
import { openStoreOf } from '../store/index.ts'
import { createPrincipalLookup } from './auth/token-manager.ts'

export type { RunningWorker, WorkerLogEntry, WorkerOptions } from '../hub/index.ts'

/** A worker with its hub. */
export interface StartedWorker {
  /** Takes and executes calls of other processes. */
  readonly worker: RunningWorker
  /** The hub whose tools it executes. */
  readonly hub: Hub
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
export async function startWorker(hubOptions: HubOptions, options: WorkerOptions = {}): Promise<StartedWorker> {
  const { clock = systemClock } = hubOptions
  const store = hubOptions.store ?? openStoreOf(hubOptions)
  // First, so that a wrong store is reported once: the hub starts sources that use it.
  if (store.isShared)
    await store.check().catch(async (error) => {
      if (!hubOptions.store) await store.close()
      throw error
    })
  const hub: Hub = createToolHub<readonly AnyTool[]>({
    principals: createPrincipalLookup(store, () => clock.now()),
    ...hubOptions,
    store,
  })
  const close = async () => {
    await hub.close({ abort: true })
    if (!hubOptions.store) await store.close()
  }
  try {
    const worker = await hub.work(options)
    return {
      worker,
      hub,
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
