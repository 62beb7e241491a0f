import type { Assembly } from './create-runtime.ts'

/** Ends a run when its calls have ended: its records are flushed and unlocked, what was counted and remembered for it is gone. */
export async function endRun({ parts, abilities, runs, sources }: Assembly, run: string): Promise<void> {
  const underWay = () => [...parts.underWay].filter((call) => call.run === run)
  while (underWay().length > 0) await Promise.all(underWay().map((call) => call.whenEnded()))
  await abilities.endRun(run)
  await runs.close(run)
  await parts.budget.endRun(run)
  parts.loops.endRun(run)
  sources.endRun(run)
  parts.grants.endSession(`run:${run}`)
}
