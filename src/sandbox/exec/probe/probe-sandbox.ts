import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { type SandboxLevel, withFreeDescriptors } from '../../../core/index.ts'
import { openCgroups } from '../host/cgroup.ts'
import { findProgram } from '../host/system-programs.ts'
import { tryLevel } from './try-level.ts'

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
      weaknesses: [...weaknesses, ...weaknessesOf(level), ...withoutCgroups(version, level)],
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
    'No filter of system calls: io_uring, the keyrings of the user and other rarely used parts of the kernel are in reach. Install bubblewrap (apt install bubblewrap).',
  ]
}

function withoutCgroups(version: string, level: SandboxLevel): string[] {
  if (version !== 'none' || process.platform !== 'linux') return []
  const isRoot = process.geteuid?.() === 0
  return [
    `Memory is limited for each process of a command, not for all of them together${level === 'none' ? '' : ', and not what they share'}: no cgroup can be made here. Run the hub as a service with Delegate=yes.`,
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
