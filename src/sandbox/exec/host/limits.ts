import { readFileSync } from 'node:fs'

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
export type HardLimits = ReadonlyMap<string, number>

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
