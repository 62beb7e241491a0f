import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core'

/** Where the programs that create a sandbox are looked up: never in the hub's PATH, which others may have set. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
const found = new Map<string, string>()

/** The absolute path of a system program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const known = found.get(name)
  if (known) return known
  const path = FOLDERS.map((folder) => `${folder}/${name}`).find(canRun)
  if (path) found.set(name, path)
  return path
}

/** The absolute path of a program that the sandbox cannot do without. */
export function needProgram(name: string, aptPackage: string): string {
  const path = findProgram(name)
  if (path) return path
  throw new ToolError('SANDBOX_UNAVAILABLE', `${name} is not installed; the sandbox needs it.`, {
    hint: `Install it (apt install ${aptPackage}), then start the hub again.`,
  })
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Missing or not executable: the next folder may have it.
    return false
  }
}

/** What a Node installation consists of; a folder that contains anything else is not only Node. */
const NODE_PARTS = new Set(['bin', 'lib', 'include', 'share', 'etc', 'CHANGELOG.md', 'LICENSE', 'README.md'])
const nodeFolders = new Map<string, string | undefined>()

/**
 * The folder in which the hub's own Node is installed, such as a version manager's, so that commands find `node` and
 * `npm` too. Undefined below /usr, which every sandbox shows, and where the folder contains more than Node (the owner
 * can then name it in sandbox.commands.readable).
 */
export function nodeFolder(executable: string = process.execPath): string | undefined {
  if (!nodeFolders.has(executable)) nodeFolders.set(executable, findNodeFolder(executable))
  return nodeFolders.get(executable)
}

function findNodeFolder(executable: string): string | undefined {
  const real = realpathSync.native(executable)
  const folder = dirname(dirname(real))
  if (real.startsWith('/usr/') || real !== join(folder, 'bin/node')) return undefined
  if (!existsSync(join(folder, 'lib/node_modules'))) return undefined
  return readdirSync(folder).every((name) => NODE_PARTS.has(name)) ? folder : undefined
}

/** How much a command or program may use. */
export interface ProcessLimits {
  /** `Infinity` for a long-running program. */
  readonly cpuSeconds: number
  /** Memory of all its processes together where the machine has cgroups, otherwise of each process. */
  readonly memoryBytes: number
  /** Processes and threads that exist at the same time. */
  readonly processes: number
  /** Size of a file that it writes. */
  readonly fileBytes: number
  /** Files that are open at the same time. */
  readonly openFiles: number
  /** Disk space that it may add; enforced for commands only. */
  readonly diskBytes?: number
  /** Files and folders that it may create; enforced for commands only. */
  readonly newFiles?: number
}

/** The highest values that this process may set, by their prlimit names; a missing one is unlimited. */
type HardLimits = ReadonlyMap<string, number>

/**
 * Programs reserve far more address space than they use: node with fetch (WebAssembly) asks for more than 16 GiB and
 * runs with 24. So the address space only bounds the absurd; `--data`, which counts private writable memory, is the
 * limit of each process.
 */
const ADDRESS_SPACE = 64 * 1024 ** 3
/** Without a sandbox, the kernel counts all processes of the user, not only those of the command. */
const OTHER_PROCESSES = 4096

/** The prlimit options that limit a command and everything it starts; never more than the system allows us to set. */
export function limitOptions(
  limits: ProcessLimits,
  { isSandboxed = true, hard = hardLimits() }: { readonly isSandboxed?: boolean; readonly hard?: HardLimits } = {},
): string[] {
  const wanted: ReadonlyArray<readonly [string, number]> = [
    ['cpu', limits.cpuSeconds],
    ['as', ADDRESS_SPACE + limits.memoryBytes],
    ['data', limits.memoryBytes],
    ['nproc', limits.processes + (isSandboxed ? 0 : OTHER_PROCESSES)],
    ['fsize', limits.fileBytes],
    ['nofile', limits.openFiles],
    ['core', 0],
    // Message queues would outlive the command that creates them.
    ...(isSandboxed ? [['msgqueue', 0] as const] : []),
  ]
  return wanted.map(([name, value]) => {
    const bound = Math.min(Math.max(0, Math.floor(value)), hard.get(name) ?? Infinity)
    return `--${name}=${bound === Infinity ? 'unlimited' : bound}`
  })
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['Max cpu time', 'cpu'],
  ['Max address space', 'as'],
  ['Max data size', 'data'],
  ['Max processes', 'nproc'],
  ['Max file size', 'fsize'],
  ['Max open files', 'nofile'],
  ['Max core file size', 'core'],
])
let known: HardLimits | undefined

/** Read once: children inherit the limits of this process, and nobody raises them without privileges. */
function hardLimits(): HardLimits {
  known ??= parseLimits(ownLimits())
  return known
}

/** The hard limits in the text of `/proc/self/limits`. */
export function parseLimits(text: string): HardLimits {
  const found = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, label = '', hard = ''] = /^(Max .*?) {2,}\S+ +(\d+) /.exec(line) ?? []
    const name = NAMES.get(label)
    if (name) found.set(name, Number(hard))
  }
  return found
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // No /proc, as on macOS: nothing is known, and a value that is too high fails where it is set.
    return ''
  }
}
