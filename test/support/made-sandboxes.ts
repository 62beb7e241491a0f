import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { supervisorFile } from '../../packages/sandbox/src/exec/isolation/build-sandbox.ts'
import type { SandboxLaunch } from '../../packages/sandbox/src/exec/isolation/sandbox.ts'
import { SUPERVISOR } from '../../packages/sandbox/src/exec/start/shell-scripts.ts'

const LIMITS = { cpuSeconds: 60, memoryBytes: 2 ** 30, processes: 200, fileBytes: 2 ** 30, openFiles: 512 }
const ENVIRONMENT = { PATH: '/usr/bin:/bin' }

/** A sandbox around one folder, with words of its own so that the tests of starting need no builder. */
export function fullSandbox(workspace: string, key = workspace): SandboxLaunch {
  const args = [
    ...['--unshare-user', '--disable-userns', '--unshare-all', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
    ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64', '--dev', '/dev', '--proc', '/proc'],
    ...['--tmpfs', '/tmp', '--tmpfs', '/run', '--bind', workspace, workspace],
  ]
  return { level: 'full', key, file: '/usr/bin/bwrap', args, env: ENVIRONMENT, limits: LIMITS }
}

/** The same with a supervisor, which runs one command after another. */
export function reusableSandbox(workspace: string): SandboxLaunch {
  const sandbox = fullSandbox(workspace, `reusable ${workspace}`)
  const args = [...sandbox.args, '--tmpfs', '/proc/1', '--ro-bind', supervisorFile()!, SUPERVISOR]
  return { ...sandbox, args, isReusable: true }
}

/** No sandbox at all. */
export function noSandbox(): SandboxLaunch {
  const args = ['--core=0', '--']
  return { level: 'none', key: 'none', file: '/usr/bin/prlimit', args, env: ENVIRONMENT, limits: LIMITS }
}

/** A folder to work in that is gone after the test. */
export async function workspace(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'start-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** The command lines of this machine's processes that have a text among their arguments. */
export async function processesWith(text: string): Promise<string[]> {
  return (await processesWhose('cmdline', text)).map(({ content }) => content.replaceAll('\0', ' '))
}

/** The ids of the same processes. */
export async function pidsWith(text: string): Promise<number[]> {
  return (await processesWhose('cmdline', text)).map(({ pid }) => pid)
}

/** The ids of the processes that have a text in their environment. */
export async function processesKnowing(text: string): Promise<number[]> {
  return (await processesWhose('environ', text)).map(({ pid }) => pid)
}

/** Waits for something to become true, looking again and again. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** The spawners that a process has started. */
export async function spawnersOf(parent: number): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const isSpawner = async (id: string) => {
    const [stat, line] = await Promise.all(['stat', 'cmdline'].map((file) => readFile(`/proc/${id}/${file}`, 'utf8')))
    return stat!.slice(stat!.lastIndexOf(')')).split(' ')[2] === String(parent) && line!.includes('spawner-main')
  }
  const found = await Promise.all(ids.map(async (id) => ((await isSpawner(id).catch(() => false)) ? [Number(id)] : [])))
  return found.flat()
}

async function processesWhose(file: string, text: string): Promise<{ pid: number; content: string }[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const read = async (id: string) => ({
    pid: Number(id),
    content: await readFile(`/proc/${id}/${file}`, 'utf8').catch(() => ''),
  })
  return (await Promise.all(ids.map(read))).filter(({ content }) => content.includes(text))
}
