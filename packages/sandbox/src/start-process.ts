import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { basename } from 'node:path'
import { ToolError } from '@tool-hub/core'

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
