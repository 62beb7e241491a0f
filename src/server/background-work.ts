import { type Clock, messageOf } from '../core/index.ts'
import { pruneRuns, type Retention } from '../hub/index.ts'
import type { Service } from './service.ts'

const EVERY_MS = 3_600_000
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
    { everyMs: EVERY_MS, clock, onFailure },
  )
  return async () => {
    stop()
    stopped.abort()
    await current
  }
}

/** Repeats background work at an interval, one at a time. Returns a function that stops it. */
export function repeat(
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
