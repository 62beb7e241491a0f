import type { Clock } from '../core/index.ts'

/** Does background work every so often, one at a time, until it is stopped. */
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
