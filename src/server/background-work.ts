import { type Clock, messageOf } from '../core/index.ts'
import { type Hub, pruneRuns, type Retention } from '../hub/index.ts'
import type { Service } from './service.ts'

const PRUNE_MS = 3_600_000
const SWEEP_MS = 600_000
/** Soon after the 10 s without heartbeats that end the process of a run. */
const RECOVER_MS = 5_000
const MAX_LEASES = 1_000_000

/** Removes runs that are too old or too many, at the start and every hour. Returns a function that stops it. */
export function startRetention(
  { hub, store }: Pick<Service, 'hub' | 'store'>,
  options: {
    readonly retention: Retention | undefined
    readonly runsFolder: string
    readonly clock: Clock
    readonly onProblem: (message: string) => void
  },
): () => Promise<void> {
  const { retention, runsFolder, clock, onProblem } = options
  if (!retention) return async () => {}
  const stopped = new AbortController()
  const reported = new Set<string>()
  /** A copy of a run that another machine has now is not the run. */
  const elsewhere = async () => {
    const { cluster } = hub
    if (!cluster) return []
    const leased = await store.runStates.leases({ limit: MAX_LEASES })
    return leased.flatMap(({ run, owner }) => (owner === cluster.id ? [] : [run]))
  }
  const prune = async () => {
    const { kept } = await pruneRuns({
      ...retention,
      runsFolder,
      store,
      shared: hub.sharedRecords,
      cluster: hub.cluster,
      by: 'retention',
      now: clock.now(),
      except: [hub.run, ...(await elsewhere())],
      record: (change) => hub.recordChange(change),
      end: (run) => hub.endRun(run),
      signal: stopped.signal,
    })
    for (const { run, why } of kept.filter(({ run }) => !reported.has(run))) {
      reported.add(run)
      onProblem(`Run ${run} is past its retention and kept: ${why}`)
    }
  }
  const onFailure = (error: unknown) => {
    if (!stopped.signal.aborted) onProblem(`Old runs could not be removed: ${messageOf(error)}`)
  }
  let current = prune().catch(onFailure)
  const stop = repeat(
    () => {
      current = prune().catch(onFailure)
      return current
    },
    { everyMs: PRUNE_MS, clock, onFailure },
  )
  return async () => {
    stop()
    stopped.abort()
    await current
  }
}

/** Deletes what has expired in the store; once in the interval for all processes that share it. Returns a function that stops it. */
export function startSweeping(
  { hub: { cluster }, store }: Pick<Service, 'hub' | 'store'>,
  { clock, onProblem }: { readonly clock: Clock; readonly onProblem: (message: string) => void },
): () => void {
  const sweep = async () => {
    const now = clock.now()
    const lease = { owner: cluster?.id ?? '', now, until: now + SWEEP_MS / 2 }
    if (!cluster || (await store.slots.lease('sweep', lease))) await store.sweep(now)
  }
  const onFailure = (error: unknown) => onProblem(`The store could not be cleaned: ${messageOf(error)}`)
  return repeat(sweep, { everyMs: SWEEP_MS, clock, onFailure })
}

/** Ends the runs of processes that were lost, if others share the store. Returns a function that stops it. */
export function startRecovering(hub: Pick<Hub, 'cluster' | 'recoverRuns'>, clock: Clock): () => void {
  if (!hub.cluster) return () => {}
  // While the store is away, which calls report, the next attempt follows.
  return repeat(() => hub.recoverRuns({ only: 'leased' }), { everyMs: RECOVER_MS, clock, onFailure: () => {} })
}

/** Repeats background work at an interval, one at a time. Returns a function that stops it. */
function repeat(
  work: () => unknown,
  { everyMs, clock, onFailure }: { everyMs: number; clock: Clock; onFailure: (error: unknown) => void },
): () => void {
  let cancel = () => {}
  let isStopped = false
  const again = () => {
    if (isStopped) return
    cancel = clock.after(
      everyMs,
      async () => {
        try {
          await work()
        } catch (error) {
          onFailure(error)
        }
        again()
      },
      { background: true },
    )
  }
  again()
  return () => {
    isStopped = true
    cancel()
  }
}
