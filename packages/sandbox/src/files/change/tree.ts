import { createHash, type Hash } from 'node:crypto'
import { type BigIntStats, closeSync, lstatSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { ToolError, throwIfAborted } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import { isSameEntry } from '../access/steady-folder.ts'
import { isSameList } from '../walk.ts'

/**
 * A name as its bytes, one character each: a file system may contain names that are not UTF-8, and those must be found
 * again when a tree is measured, copied or removed.
 */
export type ByteName = string

/** The bytes of a name that is given as text. */
export function toByteName(name: string): ByteName {
  return Buffer.from(name).toString('latin1')
}

/** A name as text. */
export function toText(name: ByteName): string {
  return Buffer.from(name, 'latin1').toString()
}

/** One name below an open folder, for a step that `fileAccess` runs. */
export function atName(folder: number, name: ByteName): Buffer {
  return fileAccess.atBytes(folder, name)
}

/** The names in an open folder, sorted by their bytes. */
export function sortedNames(folder: number): ByteName[] {
  const path = atName(folder, '.')
  return fileAccess.look(folder, () => readdirSync(path, 'latin1').sort(), isSameList)
}

/** The stats of an entry; links are not followed. */
export function statName(folder: number, name: ByteName): BigIntStats {
  const path = atName(folder, name)
  return fileAccess.look(folder, () => lstatSync(path, { bigint: true }), isSameEntry)
}

/** Opens a folder below an open folder; fails on a link. The caller closes it. */
export function openNamed(folder: number, name: ByteName): number {
  return fileAccess.openFolder(folder, atName(folder, name))
}

/** Runs work in a folder below an open one. */
export async function inNamed<T>(folder: number, name: ByteName, work: (inner: number) => Promise<T>): Promise<T> {
  const inner = openNamed(folder, name)
  try {
    return await work(inner)
  } finally {
    closeSync(inner)
  }
}

/** The facts about a file, a link, or a folder with its content. */
export interface TreeMeasure {
  /** Equal digests mean an unchanged tree: computed from names, types, sizes, times and inodes, without the name at the top. */
  readonly digest: string
  readonly top: BigIntStats
  readonly files: number
  readonly bytes: number
}

/** The signal that stops a measurement, and the callback for each entry; `names` leads to it from the top, and is empty for the top. */
interface MeasureOptions {
  readonly signal?: AbortSignal
  readonly onEntry?: (names: readonly ByteName[], stats: BigIntStats) => void
}

/** A larger tree is not handled in one change. */
export const MAX_TREE_ENTRIES = 100_000
/** Each level keeps a descriptor open. */
export const MAX_TREE_DEPTH = 256
const ENTRIES_PER_TURN = 256

/** The digest of the entry at a path of the hub itself. */
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
    for (const inner of sortedNames(folder)) await measure(all, folder, inner, [...names, inner])
  })
}

async function count(all: Measuring, stats: BigIntStats, names: readonly ByteName[]): Promise<void> {
  all.entries += 1
  if (all.entries > MAX_TREE_ENTRIES) throw tooLarge(`more than ${MAX_TREE_ENTRIES} entries`)
  if (names.length > MAX_TREE_DEPTH) throw tooLarge(`more than ${MAX_TREE_DEPTH} folders in each other`)
  if (stats.dev !== all.top.dev) {
    throw new ToolError('PATH_DENIED', 'Another file system is mounted in the folder; a change does not enter it.')
  }
  if (all.entries % ENTRIES_PER_TURN === 0) await new Promise(setImmediate)
  if (all.signal) throwIfAborted(all.signal)
}

/** The time and size of a folder add nothing to its names, and some systems change them when it is moved. */
function lineOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return `folder ${stats.ino}`
  const type = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other'
  return `${type} ${stats.size} ${stats.mtimeNs} ${stats.ino}`
}

function tooLarge(what: string): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The folder has ${what}.`, { hint: 'Change its parts one after another.' })
}

/** How many names are removed before other work gets its turn. */
const REMOVALS_PER_TURN = 256

/**
 * Removes a file, a link or a folder with its content, with one descriptor per level: it fails on a folder that was
 * replaced with a link meanwhile, and touches nothing behind a link. An entry that no longer exists counts as removed.
 */
export async function deleteTree(parent: number, name: string): Promise<void> {
  await removeNamed(parent, toByteName(name), { count: 0 })
}

async function removeNamed(parent: number, name: ByteName, done: { count: number }): Promise<void> {
  done.count += 1
  if (done.count % REMOVALS_PER_TURN === 0) await new Promise(setImmediate)
  try {
    if (!statName(parent, name).isDirectory()) fileAccess.unlink({ folder: parent, path: atName(parent, name) })
    else if (!removeEmpty(parent, name)) await removeFull(parent, name, done)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

async function removeFull(parent: number, name: ByteName, done: { count: number }): Promise<void> {
  await inNamed(parent, name, async (folder) => {
    for (const inner of sortedNames(folder)) await removeNamed(folder, inner, done)
  })
  fileAccess.removeFolder({ folder: parent, path: atName(parent, name) })
}

/** Tried first: it needs no descriptor, so it works even if no descriptor is free. */
function removeEmpty(parent: number, name: ByteName): boolean {
  try {
    fileAccess.removeFolder({ folder: parent, path: atName(parent, name) })
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return false
    throw error
  }
}
