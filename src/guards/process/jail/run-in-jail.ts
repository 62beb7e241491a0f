import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { startProcess } from '../../../disk/start-process.ts'
import type { Jail } from './jail.ts'
import { inPrivateMounts } from './private-mounts.ts'

/** How one run ended. */
export interface JailRun {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Where and how long; as whom, where that is not this process's own user. */
export interface JailRunOptions {
  readonly cwd?: string
  readonly timeoutMs?: number
  readonly uid?: number
  readonly gid?: number
}

/** Runs a few words of our own in a jail and waits for them, to find out what it does; commands go through a Starter. */
export async function runInJail(
  jail: Jail,
  words: readonly string[],
  { cwd = '/', timeoutMs = 20_000, ...user }: JailRunOptions = {},
): Promise<JailRun> {
  const [file, ...args] = inPrivateMounts(jail, [jail.file, ...jail.args, ...words])
  const child = startProcess(file!, args, {
    cwd,
    env: jail.env,
    ...user,
    stdio: ['ignore', 'pipe', 'pipe', jail.seccomp ? 'pipe' : 'ignore'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const filter = child.stdio[3] as Writable | null
  // A jail that cannot be made may end before it has read its filter.
  filter?.on('error', () => {})
  filter?.end(jail.seccomp?.program)
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve([code, signal]))
  })
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([text(child.stdout!), text(child.stderr!), ended])
  return { exitCode, signal, stdout, stderr }
}
