import { readFileSync } from 'node:fs'
import type { CommandLimits } from './jail.ts'

const GIB = 1024 ** 3
/**
 * Programs reserve far more addresses than they use: node with fetch (WebAssembly) asks for more than 16 GiB at once and
 * runs with 24. So the address space bounds only what is absurd; `--data`, which counts private memory that can be
 * written, is the bound of each process.
 */
const ADDRESS_SPACE = 64 * GIB

/** The highest values that this process may set, by the names of prlimit; one that is missing is unlimited. */
export type HardLimits = ReadonlyMap<string, number>

/** Without a jail the processes of the whole user are counted, not only those of the command. */
const OTHER_PROCESSES = 4096

/** The options of prlimit that bound a command and all it starts; never over what the system lets us set. */
export function limitOptions(
  limits: CommandLimits,
  { isJailed = true, hard = hardLimits() }: { readonly isJailed?: boolean; readonly hard?: HardLimits } = {},
): string[] {
  const wanted: ReadonlyArray<readonly [string, number]> = [
    ['cpu', limits.cpuSeconds],
    ['as', ADDRESS_SPACE + limits.memoryBytes],
    ['data', limits.memoryBytes],
    ['nproc', limits.processes + (isJailed ? 0 : OTHER_PROCESSES)],
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

/** Read once: what this process has, its children have, and without privileges nobody raises it. */
function hardLimits(): HardLimits {
  known ??= parseLimits(ownLimits())
  return known
}

/** What `/proc/self/limits` says of the hard limits. */
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
