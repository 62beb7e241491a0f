import type { Call } from './call.ts'
import type { RunState } from './parts.ts'

/** What a call read is somebody else's text: the run, and whoever gets the result, know it from now on. */
export function markUntrusted(run: RunState, call: Call): void {
  run.taint(call.id)
  labelCall(call)
}

/** The result of the call, and of those that made it, is labelled. */
export function labelCall(call: Call): void {
  for (let reader: Call | undefined = call; reader; reader = reader.parent) reader.isUntrusted = true
}
