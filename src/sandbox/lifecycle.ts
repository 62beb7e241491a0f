import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { basename } from 'node:path'
import { ToolError } from '../core/index.ts'

/** Throws if a call was stopped: the reason of the pipeline, or ABORTED if there is none. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return
  if (ToolError.is(signal.reason)) throw signal.reason
  throw new ToolError('ABORTED', 'The call was stopped.', { cause: signal.reason })
}

/**
 * Starts a process as `spawn` does. Without free descriptors `spawn` returns a child that has no streams and emits its
 * error later, which ends this process if nobody listens; this fails with OUT_OF_RESOURCES instead.
 */
export function startProcess(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(file, args, options)
  if (child.stdio !== undefined) return child
  child.on('error', () => {})
  throw new ToolError(
    'OUT_OF_RESOURCES',
    `${basename(file)} cannot be started: too many files and connections are open.`,
  )
}
