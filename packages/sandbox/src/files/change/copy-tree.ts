import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lutimesSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { ToolError, throwIfAborted } from '@tool-hub/core'
import { allSettled } from '@tool-hub/core/lib'
import { syncFolder } from '../../system/index.ts'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import { keepOwner, takeFolderOwner } from './file-owner.ts'
import { modeOf, piecesOf } from './place.ts'

import {
  atName,
  type ByteName,
  inNamed,
  MAX_TREE_DEPTH,
  MAX_TREE_ENTRIES,
  sortedNames,
  statName,
  toByteName,
  toText,
} from './tree.ts'

/** How a tree is copied. */
export interface CopyOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
  /** Whether an entry is copied; `names` leads to it from the top. */
  readonly admits: (names: readonly ByteName[], stats: BigIntStats) => boolean
  /**
   * The copy takes the place of the original: links, times and owners are copied too, and what cannot be copied stops it.
   * Two names of one file become two files.
   */
  readonly isFaithful: boolean
}

/** What was copied and what was left out. */
export interface CopyCount {
  files: number
  bytes: number
  skipped: number
}

interface Copying extends CopyOptions {
  readonly count: CopyCount & { entries: number }
  /** The folder of the copy: its owner owns what is created. */
  readonly around: number
}

/** A name in an open folder. */
export interface Named {
  readonly parent: number
  readonly name: string
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
/** Files are copied concurrently: each waits for the disk most of the time. */
const SIDE_BY_SIDE = 8

/** Copies a file, or a folder with its content, by descriptors to a free name. If it fails, what was created stays. */
export async function copyTree(from: Named, to: Named, options: CopyOptions): Promise<CopyCount> {
  const count = { entries: 0, files: 0, bytes: 0, skipped: 0 }
  const [name, copy] = [toByteName(from.name), toByteName(to.name)]
  await copyEntry({ ...options, count, around: to.parent }, { from: from.parent, to: to.parent, name, copy, names: [] })
  return { files: count.files, bytes: count.bytes, skipped: count.skipped }
}

interface Entry {
  readonly from: number
  readonly to: number
  readonly name: ByteName
  readonly copy: ByteName
  readonly names: readonly ByteName[]
}

async function copyEntry(all: Copying, entry: Entry): Promise<void> {
  const { from, name, names } = entry
  const stats = statName(from, name)
  checkBounds(all, names)
  if (!all.admits(names, stats)) all.count.skipped += 1
  else if (stats.isDirectory()) await copyFolder(all, entry, stats)
  else if (stats.isFile()) await copyFile(all, entry)
  else if (!all.isFaithful) all.count.skipped += 1
  else if (!stats.isSymbolicLink()) throw notCopied(name)
  else {
    copyLink(entry, stats)
  }
}

function copyLink({ from, to, name, copy }: Entry, stats: BigIntStats): void {
  const isSame = (a: Buffer, b: Buffer) => a.equals(b)
  const link = fileAccess.look(from, () => readlinkSync(atName(from, name), 'buffer'), isSame)
  fileAccess.change(to, () => symlinkSync(link, atName(to, copy)))
  fileAccess.change(to, () => lutimesSync(atName(to, copy), ...timesOf(stats)))
}

async function copyFolder(all: Copying, { from, to, name, copy, names }: Entry, stats: BigIntStats): Promise<void> {
  fileAccess.makeFolder({ folder: to, path: atName(to, copy) }, 0o700)
  await inNamed(from, name, (source) =>
    inNamed(to, copy, async (goal) => {
      // One that another program put in place of the new one never changes its owner.
      const isNew = sortedNames(goal).length === 0
      const below = sortedNames(source)
      for (let index = 0; index < below.length; index += SIDE_BY_SIDE) {
        throwIfAborted(all.signal)
        const batch = below.slice(index, index + SIDE_BY_SIDE)
        await allSettled(
          batch.map((inner) =>
            copyEntry(all, { from: source, to: goal, name: inner, copy: inner, names: [...names, inner] }),
          ),
        )
      }
      // Last: a read-only folder could not be filled, and nobody else can change it until then.
      finishFolder(all, goal, stats, isNew)
      await syncFolder(fileAccess.at(goal, '.'))
    }),
  )
}

function finishFolder({ isFaithful, around }: Copying, goal: number, stats: BigIntStats, isNew: boolean): void {
  const folder = fileAccess.open(goal, atName(goal, '.'), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    if (isFaithful) keepOwner(folder, stats)
    else if (isNew) takeFolderOwner(folder, around)
    fchmodSync(folder, modeOf(stats))
    if (isFaithful) futimesSync(folder, ...timesOf(stats))
  } finally {
    closeSync(folder)
  }
}

async function copyFile(all: Copying, { from, to, name, copy }: Entry): Promise<void> {
  const source = await fileAccess.openHandle(from, atName(from, name), READ)
  try {
    const stats = fstatSync(source.fd, { bigint: true })
    if (!stats.isFile()) throw new ToolError('CONFLICT', 'A file became something else while it was copied.')
    reserve(all, Number(stats.size))
    const goal = await fileAccess.openHandle(to, atName(to, copy), CREATE, 0o600)
    try {
      for await (const piece of piecesOf(source.fd, Number(stats.size), all.signal)) await goal.writeFile(piece)
      if (all.isFaithful) keepOwner(goal.fd, stats)
      else takeFolderOwner(goal.fd, all.around)
      await goal.chmod(modeOf(stats))
      if (all.isFaithful) await goal.utimes(...timesOf(stats))
      await goal.sync()
    } finally {
      await goal.close()
    }
  } finally {
    await source.close()
  }
  all.count.files += 1
}

/** Counted before it is copied: files that are copied concurrently share the limit. */
function reserve(all: Copying, size: number): void {
  all.count.bytes += size
  if (all.count.bytes > all.maxBytes) throw tooLarge(`more than ${all.maxBytes} bytes`)
}

function checkBounds(all: Copying, names: readonly ByteName[]): void {
  all.count.entries += 1
  if (all.count.entries > MAX_TREE_ENTRIES) throw tooLarge(`more than ${MAX_TREE_ENTRIES} entries`)
  if (names.length > MAX_TREE_DEPTH) throw tooLarge(`more than ${MAX_TREE_DEPTH} folders in each other`)
}

function timesOf({ atimeNs, mtimeNs }: BigIntStats): [number, number] {
  return [Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9]
}

function notCopied(name: ByteName): ToolError {
  const what = `${quotePath(toText(name))} is a pipe, a socket or a device; it cannot be taken to another file system.`
  return new ToolError('PATH_DENIED', what, { hint: 'Remove it by itself first, or leave all where it is.' })
}

function tooLarge(what: string): ToolError {
  return new ToolError('FILE_TOO_LARGE', `What is to be copied has ${what}.`, { hint: 'Copy its parts.' })
}
