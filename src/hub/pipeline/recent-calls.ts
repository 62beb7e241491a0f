import type { RecentCall, ToolResult } from '../../core/index.ts'
import type { RunState } from './parts.ts'

const MAX_COUNT = 10

/** In memory only: what a person wants to know who is asked, at nearly no cost for all other calls. */
const calls = new WeakMap<RunState, RecentCall[]>()

/** Remembers how a call of the run ended. */
export function noteCall(run: RunState, { callId, tool, status, summary }: ToolResult): void {
  const known = calls.get(run)
  const call: RecentCall = { callId, tool, status, summary }
  if (!known) {
    calls.set(run, [call])
    return
  }
  known.push(call)
  // Seldom, and then many at once.
  if (known.length >= 2 * MAX_COUNT) known.splice(0, known.length - MAX_COUNT)
}

/** The calls of the run so far, newest first. */
export function recentCalls(run: RunState): readonly RecentCall[] {
  return (calls.get(run) ?? []).slice(-MAX_COUNT).reverse()
}
