import type { RunEntry } from '../../api/types.ts'

/** The runs that are known with those that came, newest first; what came counts where both have one. */
export function mergeRuns(known: readonly RunEntry[], fresh: readonly RunEntry[]): readonly RunEntry[] {
  const byId = new Map(known.map((run) => [run.run, run]))
  for (const run of fresh) byId.set(run.run, run)
  return [...byId.values()].sort((a, b) => b.startedAt - a.startedAt || (a.run < b.run ? 1 : -1))
}
