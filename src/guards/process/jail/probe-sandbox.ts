import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { SandboxLevel } from '../../../contracts/commands.ts'
import { openCgroups } from './cgroup.ts'
import { explainFailure } from './explain-failure.ts'
import { findProgram } from './find-program.ts'
import type { SandboxReport } from './jail.ts'
import { tryLevel } from './try-level.ts'

const TIMEOUT_MS = 10_000

/** The levels of a platform, best first. */
const LEVELS: ReadonlyMap<string, readonly SandboxLevel[]> = new Map([
  ['linux', ['full', 'namespaces', 'none']],
  ['darwin', ['namespaces', 'none']],
])

/** Finds the best level that holds, by running each; `force` is the best that is tried, never more than is possible. */
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
      'Commands are not fenced in: they see, change and reach all that the user of the hub can. Every one is asked.',
    ]
  if (level === 'full') return []
  if (process.platform === 'darwin')
    return ['Commands share the process space of the user; what they leave running is killed by group only.']
  return [
    'No filter of system calls: io_uring, the keyrings of the user and other rarely used parts of the kernel are in reach. Install bubblewrap (apt install bubblewrap).',
  ]
}

function withoutCgroups(version: string, level: SandboxLevel): string[] {
  if (version !== 'none' || process.platform !== 'linux') return []
  const isRoot = process.geteuid?.() === 0
  return [
    `Memory is bounded for each process of a command, not for all of them together${level === 'none' ? '' : ', and not what they share'}: no cgroup can be made here. Run the hub as a service with Delegate=yes.`,
    ...(isRoot ? ['As root the number of processes has no bound either.'] : []),
  ]
}

async function engineOf(level: SandboxLevel): Promise<string> {
  if (level === 'none') return 'prlimit only'
  if (process.platform === 'darwin') return 'sandbox-exec'
  const program = findProgram(level === 'full' ? 'bwrap' : 'unshare')
  const { stdout } = await promisify(execFile)(program!, ['--version'], { timeout: TIMEOUT_MS })
  return stdout.trim()
}
