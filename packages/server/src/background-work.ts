import { type Clock, messageOf } from '@tool-hub/core'
import { pruneRuns, type Retention } from '@tool-hub/runtime/hub'
import type { Service } from './service.ts'

const PRUNE_MS = 3_600_000
const SWEEP_MS = 600_000
/** Soon after the 10 s without heartbeats that end the process of a run. */
const RECOVER_MS = 5_000

/** Removes runs that are too old or too many, at the start and every hour. Returns a function that stops it. */
export function startRetention(
  { hub, store, group }: Pick<Service, 'hub' | 'store' | 'group'>,
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
  const prune = async () => {
    const { kept } = await pruneRuns({
      ...retention,
      runsFolder,
      store,
      retention: hub.retention,
      by: 'retention',
      now: clock.now(),
      // A copy of a run that another machine has now is not the run.
      except: [hub.run, ...(await group.runsOfOthers())],
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
  { group, store }: Pick<Service, 'group' | 'store'>,
  { clock, onProblem }: { readonly clock: Clock; readonly onProblem: (message: string) => void },
): () => void {
  const sweep = async () => {
    if (await group.takeTurn('sweep', SWEEP_MS / 2)) await store.sweep(clock.now())
  }
  const onFailure = (error: unknown) => onProblem(`The store could not be cleaned: ${messageOf(error)}`)
  return repeat(sweep, { everyMs: SWEEP_MS, clock, onFailure })
}

/** Ends the runs of processes that were lost, if others share the store. Returns a function that stops it. */
export function startRecovering({ hub, group }: Pick<Service, 'hub' | 'group'>, clock: Clock): () => void {
  if (!group.hasOthers) return () => {}
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
