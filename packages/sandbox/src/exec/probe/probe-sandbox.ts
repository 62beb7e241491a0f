import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { messageOf, resourceError, type SandboxLevel, ToolError, withFreeDescriptors } from '@tool-hub/core'
import { startProcess } from '../../start-process.ts'
import { openCgroups } from '../host/cgroup.ts'
import { findProgram } from '../host/host.ts'
import { buildSandbox } from '../isolation/build-sandbox.ts'
import { commandEnvironment } from '../isolation/environment.ts'
import { inPrivateMounts, type SandboxLaunch } from '../isolation/sandbox.ts'

/** What this machine can do, determined by really running it. */
export interface SandboxReport {
  /** The strongest isolation that works on this machine. */
  readonly level: SandboxLevel
  /** `bubblewrap 0.8.0`, `unshare from util-linux 2.38`, … */
  readonly engine: string
  /** Weaknesses and how to fix them, one line each. */
  readonly weaknesses: readonly string[]
  /** How processes and memory are limited in addition to prlimit. */
  readonly cgroups: 'v1' | 'v2' | 'none'
}

const TIMEOUT_MS = 10_000

/** The levels of a platform, best first. */
const LEVELS: ReadonlyMap<string, readonly SandboxLevel[]> = new Map([
  ['linux', ['full', 'namespaces', 'none']],
  ['darwin', ['namespaces', 'none']],
])

const reports = new Map<SandboxLevel | undefined, Promise<SandboxReport>>()

/** Probes the machine once per process: the result is a property of the machine, while guards come and go with runs. */
export async function probeSandboxOnce(level: SandboxLevel | undefined): Promise<SandboxReport> {
  const report =
    reports.get(level) ?? withFreeDescriptors('The sandbox cannot be tried', () => probeSandbox({ force: level }))
  reports.set(level, report)
  try {
    return await report
  } catch (error) {
    reports.delete(level)
    throw error
  }
}

/** Finds the best level that holds, by running each. `force` is the best level that is tried, if the platform has it. */
export async function probeSandbox({ force }: { readonly force?: SandboxLevel } = {}): Promise<SandboxReport> {
  const levels = LEVELS.get(process.platform) ?? ['none']
  const wanted = Math.max(0, force ? levels.indexOf(force) : 0)
  const weaknesses: string[] = []
  const cgroups = openCgroups()
  for (const level of levels.slice(wanted)) {
    const why = level === 'none' ? undefined : await tryLevel(level, TIMEOUT_MS)
    if (why !== undefined) {
      weaknesses.push(`Not at level ${level}: ${explainFailure(why)}`)
      continue
    }
    const { version } = await cgroups
    if (wanted > 0) weaknesses.push(`Level ${level} was chosen; better ones were not tried.`)
    return {
      level,
      engine: await engineOf(level),
      weaknesses: [...weaknesses, ...weaknessesOf(level), ...withoutCgroups(version)],
      cgroups: version,
    }
  }
  throw new RangeError('Every platform has the level none.')
}

function weaknessesOf(level: SandboxLevel): string[] {
  if (level === 'none')
    return [
      'Commands are not sandboxed: they can see, change and reach everything that the user of the hub can. Every command needs approval.',
    ]
  if (level === 'full') return []
  if (process.platform === 'darwin')
    return [
      'Commands share the process namespace of the user; processes that they leave running are only killed as a group.',
    ]
  return [
    'No filter of system calls: commands reach the keyrings of the user and the session, vsock, io_uring and generic netlink, can leave set-user-ID files, and can delay other programs by leases on files. Install bubblewrap (apt install bubblewrap).',
  ]
}

function withoutCgroups(version: string): string[] {
  if (version !== 'none' || process.platform !== 'linux') return []
  const isRoot = process.geteuid?.() === 0
  return [
    `Memory is limited for each process of a command, not for all of them together, and not what no process maps (memfds, System V segments, buffers of pipes and sockets): no cgroup can be made here. Run the hub as a service with Delegate=yes.`,
    ...(isRoot ? ['As root, the number of processes is not limited either.'] : []),
  ]
}

async function engineOf(level: SandboxLevel): Promise<string> {
  if (level === 'none') return 'prlimit only'
  if (process.platform === 'darwin') return 'sandbox-exec'
  const program = findProgram(level === 'full' ? 'bwrap' : 'unshare')
  const { stdout } = await promisify(execFile)(program!, ['--version'], { timeout: TIMEOUT_MS })
  return stdout.trim()
}

/** Reads a kernel setting; returns undefined if the kernel does not have it. */
export type ReadSwitch = (name: string) => string | undefined

/** Adds advice to the failure of a sandbox, based on its message and the settings of the machine. */
export function explainFailure(
  why: string,
  { readSwitch = fromProc, isContainer = inContainer() }: { readSwitch?: ReadSwitch; isContainer?: boolean } = {},
): string {
  const advice = adviceFor(why, readSwitch, isContainer)
  return advice ? `${why} ${advice}` : why
}

const NO_NAMESPACE = /uid map|new namespace|user namespace|unshare failed|clone\(\) failed|Operation not permitted/i
const NO_PROC = /mount proc|proc on|special device proc|wrong fs type.*proc/i

function adviceFor(why: string, readSwitch: ReadSwitch, isContainer: boolean): string | undefined {
  if (/Unknown option.*--disable-userns/.test(why)) return 'bubblewrap is older than 0.8: install a newer one.'
  if (isContainer && NO_PROC.test(why))
    return 'The container hides parts of /proc: start it with --security-opt systempaths=unconfined.'
  if (!NO_NAMESPACE.test(why)) return undefined
  if (readSwitch('kernel/unprivileged_userns_clone') === '0')
    return 'User namespaces are off: sysctl kernel.unprivileged_userns_clone=1.'
  if (readSwitch('user/max_user_namespaces') === '0')
    return 'User namespaces are off: sysctl user.max_user_namespaces=10000.'
  if (readSwitch('kernel/apparmor_restrict_unprivileged_userns') === '1')
    return 'AppArmor keeps programs from user namespaces: give bwrap a profile that allows userns, or sysctl kernel.apparmor_restrict_unprivileged_userns=0.'
  if (isContainer)
    return 'The container does not allow user namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or a profile that allows unshare and mount.'
  return 'The kernel or a security module refuses user namespaces here.'
}

function fromProc(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim()
  } catch {
    // This kernel does not have it.
    return undefined
  }
}

function inContainer(): boolean {
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv') || process.env.container !== undefined
}

const LIMITS = { cpuSeconds: 10, memoryBytes: 512 * 1024 ** 2, processes: 64, fileBytes: 1024 ** 2, openFiles: 256 }

/** Writes inside, reads and writes outside, and connects to the given port; prints what worked. */
const ATTEMPTS = `
echo inside >"$1/inside" && echo wrote-inside
(echo outside >"$2/made") 2>/dev/null && echo wrote-outside
(read -r secret <"$2/secret") 2>/dev/null && echo read-outside
(exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null && echo connected
echo done
`

/**
 * Really runs a level once. Returns why it does not hold, or undefined if it does. Throws OUT_OF_RESOURCES if it could
 * not be tried: that says nothing about the machine, and must not lead to a weaker level.
 */
async function tryLevel(level: SandboxLevel, timeoutMs: number): Promise<string | undefined> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tool-hub-probe-')))
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    return await attempt(level, folder, portOf(server), timeoutMs)
  } catch (error) {
    const exhausted = resourceError(error, 'The sandbox cannot be tried')
    if (exhausted) throw exhausted
    return ToolError.is(error) ? `${error.message} ${error.fix.hint}` : messageOf(error)
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function attempt(
  level: SandboxLevel,
  folder: string,
  port: number,
  timeoutMs: number,
): Promise<string | undefined> {
  const [inside, outside] = [join(folder, 'inside'), join(folder, 'outside')]
  await mkdir(inside)
  await mkdir(outside)
  await writeFile(join(outside, 'secret'), 'secret\n')
  const sandbox = buildSandbox({
    level,
    roots: [{ path: inside, mode: 'write' }],
    ...{ readable: [], writable: [], protect: [], hide: [] },
    limits: LIMITS,
    environment: commandEnvironment({ from: {} }),
  })
  const words = ['/bin/bash', '-c', ATTEMPTS, 'probe', inside, outside, String(port)]
  const { stdout, stderr, exitCode, signal } = await runInSandbox(sandbox, words, { cwd: inside, timeoutMs })
  const succeeded = stdout.split('\n')
  if (!succeeded.includes('done')) return failure(stderr, exitCode, signal)
  if ((await readFile(join(inside, 'inside'), 'utf8').catch(() => '')) !== 'inside\n')
    return 'A command could not write in its workspace.'
  if (level === 'none') return undefined
  if (succeeded.includes('wrote-outside') || (await exists(join(outside, 'made'))))
    return 'A command could write outside.'
  if (succeeded.includes('read-outside')) return 'A command could read outside.'
  return succeeded.includes('connected') ? 'A command could reach the network.' : undefined
}

function failure(stderr: string, exitCode: number | null, signal: string | null): string {
  const [line] = stderr.trim().split('\n')
  if (line) return line
  return signal ? `It was ended by ${signal}.` : `It ended with ${exitCode}.`
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Where and for how long to run, and as which user if not as this process's own. */
interface ProbeOptions {
  readonly cwd?: string
  readonly timeoutMs?: number
  readonly uid?: number
  readonly gid?: number
}

/** Runs a few words of our own in a sandbox and waits for them, to test the sandbox; commands go through a Starter. */
export async function runInSandbox(
  sandbox: SandboxLaunch,
  words: readonly string[],
  { cwd = '/', timeoutMs = 20_000, ...user }: ProbeOptions = {},
): Promise<{ exitCode: number | null; signal: string | null; stdout: string; stderr: string }> {
  const [file, ...args] = inPrivateMounts(sandbox, [sandbox.file, ...sandbox.args, ...words])
  const child = startProcess(file!, args, {
    cwd,
    env: sandbox.env,
    ...user,
    stdio: ['ignore', 'pipe', 'pipe', sandbox.seccomp ? 'pipe' : 'ignore'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const filter = child.stdio[3] as Writable | null
  // A sandbox that cannot be created may exit before it has read its filter.
  filter?.on('error', () => {})
  filter?.end(sandbox.seccomp?.program)
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve([code, signal]))
  })
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([text(child.stdout!), text(child.stderr!), ended])
  return { exitCode, signal, stdout, stderr }
}
