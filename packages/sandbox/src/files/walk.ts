import { type BigIntStats, closeSync, type Dirent, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { type FileFacts, ToolError, throwIfAborted } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { TimeSlice } from '../system/index.ts'
import { fileAccess } from './access/choose-access.ts'
import { quotePath } from './file-error.ts'
import type { FileTarget, Roots } from './roots.ts'

const MAX_LINKS = 8

/** Walks to a path, starting again at a root for each link that stays inside, until `arrive` returns something else than a link. */
export function followLinks<T extends object>(
  roots: Roots,
  path: string,
  arrive: (target: FileTarget) => T | LinkTarget,
): T {
  let target = roots.locate(path)
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const arrived = arrive(target)
    if (!('link' in arrived)) return arrived
    target = roots.locateLink(arrived.link, target)
  }
  throw new ToolError('PATH_DENIED', `${quotePath(path)} leads over more than ${MAX_LINKS} links.`)
}

/**
 * Opens the folders above a target one name at a time and passes the last one to `use`, with the target's own name.
 * Returns a link on the way with its absolute destination, or undefined if a folder is missing.
 */
export function inParent<T>(
  target: FileTarget,
  use: (descriptor: number, name: string) => T,
): T | LinkTarget | undefined {
  const { root, names } = target
  const last = names.length - 1
  let descriptor = root.descriptor
  try {
    for (let index = 0; index < last; index += 1) {
      const next = openFolder(descriptor, names[index]!)
      if (typeof next !== 'number') return next && destination(target, index, next)
      if (descriptor !== root.descriptor) closeSync(descriptor)
      descriptor = next
    }
    return use(descriptor, names[last] ?? '.')
  } finally {
    if (descriptor !== root.descriptor) closeSync(descriptor)
  }
}

/** The target itself if no link is on the way, as far as it exists; otherwise the first link. */
export function findLink(target: FileTarget): FileTarget | LinkTarget {
  const found = inParent(target, (descriptor, name) => {
    return statAt(descriptor, name)?.isSymbolicLink() ? lastLink(target, descriptor, name) : undefined
  })
  return found ?? target
}

/** The destination of a target that turned out to be a link itself. */
export function lastLink(target: FileTarget, descriptor: number, name: string): LinkTarget | undefined {
  const link = readLink(descriptor, name)
  return link && destination(target, target.names.length - 1, link)
}

/** Refuses a change through a link; the hint names the destination if that is inside the roots. */
export function refuseLink(roots: Roots, { link }: LinkTarget, target: FileTarget): never {
  const { path } = roots.locateLink(link, target)
  throw new ToolError('PATH_DENIED', `${quotePath(target.path)} goes through a link; changes do not follow links.`, {
    hint: `Use the path it leads to: ${path}`,
  })
}

/** The absolute path that a link among a target's names leads to. The names before it were walked, so they are real. */
export function destination({ root, names }: FileTarget, index: number, { link }: LinkTarget): LinkTarget {
  return {
    link: posix.resolve(root.path, ...names.slice(0, index), link, ...names.slice(index + 1)),
    at: posix.join(root.path, ...names.slice(0, index + 1)),
  }
}

/** Where the text of a link leads. */
export interface LinkTarget {
  readonly link: string
  /** The path of the link itself, as far as it is known. */
  readonly at?: string
}

/** One name below an open folder, for a step that `fileAccess` runs. */
export function atDescriptor(descriptor: number, name: string): string {
  return fileAccess.at(descriptor, name)
}

/** Opens the folder `name` below `descriptor`. Returns the link if it is one, undefined if it does not exist. */
export function openFolder(descriptor: number, name: string): number | LinkTarget | undefined {
  try {
    return fileAccess.openFolder(descriptor, fileAccess.at(descriptor, name))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    const link = NOT_A_FOLDER.has(errnoOf(error)) ? readLink(descriptor, name) : undefined
    if (link) return link
    throw error
  }
}

const NOT_A_FOLDER = new Set(['ENOTDIR', 'ELOOP'])

/** Opens the file `name` below `descriptor`; a link is not followed. */
export function openAt(descriptor: number, name: string, flags: number): number {
  return fileAccess.open(descriptor, fileAccess.at(descriptor, name), flags)
}

/** The stats of `name` below `descriptor`; links are not followed. Undefined if it does not exist. */
export function statAt(descriptor: number, name: string): Stats | undefined {
  return fileAccess.stat(descriptor, fileAccess.at(descriptor, name))
}

/** The same with exact times. */
export function exactStatAt(descriptor: number, name: string): BigIntStats | undefined {
  return fileAccess.statBig(descriptor, fileAccess.at(descriptor, name))
}

/** The text of the link `name` below `descriptor`; undefined if it is not a link. */
export function readLink(descriptor: number, name: string): LinkTarget | undefined {
  const path = fileAccess.at(descriptor, name)
  try {
    return { link: fileAccess.look(descriptor, () => readlinkSync(path), isEqual) }
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}

/** The names in an open folder. */
export function namesAt(descriptor: number): string[] {
  const path = fileAccess.at(descriptor, '.')
  return fileAccess.look(descriptor, () => readdirSync(path), isSameList)
}

/** A name in a folder, with its type where that is known. */
export interface FolderChild {
  readonly name: string
  readonly type?: FileFacts['type']
}

/** The names in an open folder with their types, which most file systems keep with the names: no entry is looked at. */
export function typesAt(descriptor: number): FolderChild[] {
  const path = fileAccess.at(descriptor, '.')
  const read = () =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, type: typeOf(entry) }))
  return fileAccess.look(descriptor, read, (a, b) => JSON.stringify(a) === JSON.stringify(b))
}

/** Entries between two checks of the clock, which cost time as well. */
const LOOK_EVERY = 32

/** Keeps a long walk from blocking other work, and ends it when the call is stopped. */
export class WalkTurns {
  readonly #signal: AbortSignal
  readonly #slice = new TimeSlice()
  #entries = 0

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Whether other work should get its turn, asked once for each entry. */
  isOverSoon(): boolean {
    this.#entries += 1
    return this.#entries % LOOK_EVERY === 0 && this.isOver()
  }

  isOver(): boolean {
    return this.#slice.isOver
  }

  async give(): Promise<void> {
    await this.#slice.pause()
    throwIfAborted(this.#signal)
  }
}

/** The type of an entry, as in `FileFacts`. */
export function typeOf(entry: Stats | Dirent): FileFacts['type'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}

/** Whether the operating system has refused a step. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/** Whether two lists of names are the same. */
export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.join('/') === b.join('/')
}

function isEqual(a: string, b: string): boolean {
  return a === b
}
