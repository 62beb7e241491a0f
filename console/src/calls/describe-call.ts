import type { CallEntry } from '../api/types.ts'

/** What a call asked for, in a line, and the code of its failure: not what came of it, which its details say. */
export function describeCall({ request, targets, summary, error }: CallEntry): string {
  const asked = request ?? targets?.join(', ') ?? (error === undefined ? summary : undefined)
  return [asked, error].filter((words) => words !== undefined).join(' · ')
}
