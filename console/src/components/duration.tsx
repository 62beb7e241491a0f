import { formatDuration } from './format-duration.ts'

/** How long something took, exact in its title; a dash while it is not known. */
export function Duration({ ms }: { ms: number | undefined }) {
  if (ms === undefined) return <span title="not known yet">–</span>
  return <span title={`${ms.toLocaleString('en')} ms`}>{formatDuration(ms)}</span>
}
