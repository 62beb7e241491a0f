import { type ChildProcess, spawn } from 'node:child_process'
import { ToolError } from '@tool-hub/core/errors'
import type { CommandProcess } from '../../packages/sandbox/src/exec/start/sandbox-handle.ts'
import type { StartRequest } from '../../packages/sandbox/src/exec/start/starter.ts'

/** Starts real processes without a sandbox, for tests that are about what comes after the start. */
export async function startPlainly({
  words,
  cwd,
  env,
}: Pick<StartRequest, 'words' | 'cwd' | 'env'>): Promise<CommandProcess> {
  const child = spawn(words[0]!, words.slice(1), {
    cwd,
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: 'pipe',
    detached: true,
  })
  await spawned(child, words[0]!)
  const exited = new Promise<{ exitCode?: number; signal?: string }>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? { signal } : { exitCode: code! }))
  })
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    async stop() {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It is gone already.
      }
      await exited
    },
  }
}

function spawned(child: ChildProcess, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'ENOENT' ? 'NOT_FOUND' : 'EXEC_FAILED'
      reject(new ToolError(code, `${file} cannot be run.`, { cause }))
    })
  })
}
