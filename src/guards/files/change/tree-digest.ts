import { createHash, type Hash } from 'node:crypto'
import { type BigIntStats, closeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { ToolError } from '../../../errors.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { fileAccess } from '../access/choose-access.ts'
import { type ByteName, inNamed, namesIn, statName, toByteName } from './tree-entries.ts'

/** What is to know about a file, a link, or a folder with all below it. */
export interface TreeMeasure {
  /** Equal digests, untouched tree: over names, types, sizes, times and inodes, but not the name at the top. */
  readonly digest: string
  readonly top: BigIntStats
  readonly files: number
  readonly bytes: number
}

/** What stops a measuring, and who looks at each entry; `names` leads to it from the top, whose own list is empty. */
interface MeasureOptions {
  readonly signal?: AbortSignal
  readonly onEntry?: (names: readonly ByteName[], stats: BigIntStats) => void
}

/** A larger tree is not handled in one change. */
export const MOST_ENTRIES = 100_000
/** Each level holds a descriptor. */
export const DEEPEST = 256
const AT_ONCE = 256

/** The digest of what a path of the hub itself leads to. */
export async function treeDigest(path: string, signal?: AbortSignal): Promise<string> {
  const parent = fileAccess.openBase(dirname(path))
  try {
    return (await measureTree(parent, basename(path), { signal })).digest
  } finally {
    closeSync(parent)
  }
}

/** Walks a tree by descriptors and measures it; never follows a link, never enters another file system. */
export async function measureTree(parent: number, name: string, options: MeasureOptions = {}): Promise<TreeMeasure> {
  const top = statName(parent, toByteName(name))
  const measuring: Measuring = { ...options, top, hash: createHash('sha256'), entries: 0, files: 0, bytes: 0 }
  await measure(measuring, parent, toByteName(name), [])
  return { digest: measuring.hash.digest('hex'), top, files: measuring.files, bytes: measuring.bytes }
}

interface Measuring extends MeasureOptions {
  readonly top: BigIntStats
  readonly hash: Hash
  entries: number
  files: number
  bytes: number
}

async function measure(all: Measuring, parent: number, name: ByteName, names: readonly ByteName[]): Promise<void> {
  const stats = statName(parent, name)
  await count(all, stats, names)
  all.onEntry?.(names, stats)
  all.hash.update(`${names.join('/')}\0${lineOf(stats)}\n`, 'latin1')
  if (!stats.isDirectory()) {
    all.files += 1
    all.bytes += stats.isFile() ? Number(stats.size) : 0
    return
  }
  await inNamed(parent, name, async (folder) => {
    for (const inner of namesIn(folder)) await measure(all, folder, inner, [...names, inner])
  })
}

async function count(all: Measuring, stats: BigIntStats, names: readonly ByteName[]): Promise<void> {
  all.entries += 1
  if (all.entries > MOST_ENTRIES) throw tooLarge(`more than ${MOST_ENTRIES} entries`)
  if (names.length > DEEPEST) throw tooLarge(`more than ${DEEPEST} folders in each other`)
  if (stats.dev !== all.top.dev) {
    throw new ToolError('PATH_DENIED', 'Another file system is mounted in the folder; a change does not enter it.')
  }
  if (all.entries % AT_ONCE === 0) await new Promise(setImmediate)
  if (all.signal) throwIfAborted(all.signal)
}

/** The time and size of a folder say nothing that its names do not, and some systems change them when it is moved. */
function lineOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return `folder ${stats.ino}`
  const type = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other'
  return `${type} ${stats.size} ${stats.mtimeNs} ${stats.ino}`
}

function tooLarge(what: string): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The folder has ${what}.`, { hint: 'Change its parts one after another.' })
}
