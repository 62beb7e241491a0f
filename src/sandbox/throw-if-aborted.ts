import { ToolError } from '../core/index.ts'

/** Ends the work of a call that was stopped, with the reason the pipeline gave when it gave one. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return
  if (ToolError.is(signal.reason)) throw signal.reason
  throw new ToolError('ABORTED', 'The call was stopped.', { cause: signal.reason })
}
