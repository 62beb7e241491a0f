import { closeSync, fstatSync, lstatSync, opendirSync, type Stats } from 'node:fs'
import {
  type FileFacts,
  type ListEntry,
  type Listing,
  type ListOptions,
  type NamedEntry,
  type NameOptions,
  ToolError,
} from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import type { FileTarget } from '../roots.ts'
import {
  destination,
  type FolderChild,
  followLinks,
  inParent,
  isSystemError,
  type LinkTarget,
  lastLink,
  namesAt,
  openFolder,
  statAt,
  typeOf,
  typesAt,
  WalkTurns,
} from '../walk.ts'
import { checkCount } from './read-file.ts'

/** A folder whose own size is at most this has some thousand names at most, on the file systems that count them there. */
const SMALL_FOLDER_BYTES = 65_536

/** Names in a batch of a large folder. */
export const CHILDREN_AT_ONCE = 512

const DEFAULT_ENTRIES = 2_000
const DEFAULT_DEPTH = 10
/** Each level keeps a descriptor open while those below are listed. */
const MAX_DEPTH = 64
/** Limit of any request: a tree of millions must not fill the memory. */
const MAX_ENTRIES = 100_000
/** At least this many names of a folder are sorted, so that a small listing starts with the first ones. */
const MIN_NAMES = 20_000

const IF_THERE = { throwIfNoEntry: false } as const
const isByDescriptors = fileAccess.level === 'descriptors'

/** A folder on the way down. */
interface Folder {
  readonly descriptor: number
  readonly target: FileTarget
  readonly depth: number
  /** What its entries' names begin with: its own name in the listing and a slash. */
  readonly prefix: string
}

/** Lists a folder and, with `recursive`, those below it; links are listed and never entered. */
export async function listFolder(
  filesRoot: FilesRoot,
  call: FilesCall,
  path: string,
  options: ListOptions | NameOptions = {},
): Promise<Listing<NamedEntry>> {
  const walk = new ListWalk(filesRoot, call, options)
  const { descriptor, target } = openTargetFolder(filesRoot, call, path)
  try {
    await walk.list({ descriptor, target, depth: 1, prefix: '' })
    return walk.listing(target.path)
  } finally {
    closeSync(descriptor)
  }
}

class ListWalk {
  readonly #filesRoot: FilesRoot
  readonly #call: FilesCall
  readonly #turns: WalkTurns
  readonly #maxEntries: number
  readonly #maxDepth: number
  readonly #includeHidden: boolean
  readonly #recursive: boolean
  readonly #hasDetails: boolean
  readonly #entries: NamedEntry[] = []
  #isComplete = true

  constructor(filesRoot: FilesRoot, call: FilesCall, options: ListOptions | NameOptions) {
    this.#filesRoot = filesRoot
    this.#call = call
    this.#turns = new WalkTurns(call.signal())
    this.#maxEntries = Math.min(MAX_ENTRIES, checkCount('maxEntries', options.maxEntries, DEFAULT_ENTRIES))
    this.#maxDepth = Math.min(MAX_DEPTH, checkCount('maxDepth', options.maxDepth, DEFAULT_DEPTH, 1))
    this.#includeHidden = options.includeHidden ?? false
    this.#recursive = options.recursive ?? false
    this.#hasDetails = options.details ?? true
  }

  /** First all entries of a folder, then those below: what a limit leaves out is deep rather than near. */
  async list(folder: Folder): Promise<void> {
    const folders: string[] = []
    const path = fileAccess.prefix(folder.descriptor)
    for (const child of await this.#children(folder)) {
      if (this.#entries.length >= this.#maxEntries) {
        this.#isComplete = false
        return
      }
      const entry = this.#entryOf(folder, path, child)
      if (entry === undefined) continue
      this.#entries.push(entry)
      if (entry.type === 'directory') folders.push(child.name)
      if (this.#turns.isOverSoon()) await this.#turns.give()
    }
    if (!this.#recursive) return
    for (const name of folders) await this.#enter(folder, name)
  }

  listing(path: string): Listing<NamedEntry> {
    if (this.#recursive) this.#entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    return { path, entries: this.#entries, isComplete: this.#isComplete }
  }

  /** What is in a folder, sorted by name, each name once. */
  async #children({ descriptor, target }: Folder): Promise<FolderChild[]> {
    const children: FolderChild[] = []
    const most = Math.max(MIN_NAMES, this.#maxEntries)
    for (const batch of childrenOf(descriptor, fstatSync(descriptor).size, this.#hasDetails)) {
      const shown = this.#includeHidden ? batch : batch.filter(({ name }) => !name.startsWith('.'))
      const names = shown.map(({ name }) => name)
      this.#filesRoot.showNames(target, names, this.#call)
      for (const child of shown) children.push(child)
      if (this.#turns.isOver()) await this.#turns.give()
      if (children.length <= most) continue
      this.#isComplete = false
      children.length = most
      break
    }
    // The names of a small folder come sorted.
    if (children.every(({ name }, index) => index === 0 || children[index - 1]!.name < name)) return children
    return this.#withoutTwins(children.sort((a, b) => (a.name < b.name ? -1 : 1)))
  }

  /** Names that are not UTF-8 may look alike once decoded; then at most one of them is a valid name. */
  #withoutTwins(children: FolderChild[]): FolderChild[] {
    const once = children.filter(({ name }, index) => name !== children[index - 1]?.name)
    if (once.length < children.length) this.#isComplete = false
    return once
  }

  /** `path` leads to the folder, and ends with a slash. Undefined if nothing has that name. */
  #entryOf(
    { descriptor, prefix }: Folder,
    path: string,
    { name, type }: FolderChild,
  ): NamedEntry | ListEntry | undefined {
    // Whether a name is UTF-8 shows when it is used.
    if (type !== undefined && !name.includes('\ufffd')) return { name: prefix + name, type }
    const stats = isByDescriptors
      ? lstatSync(path + name, IF_THERE)
      : fileAccess.look(descriptor, () => lstatSync(path + name, IF_THERE), isSame)
    if (!stats) {
      // Removed meanwhile, or its name is not UTF-8 and therefore cannot be listed.
      if (name.includes('\ufffd')) this.#isComplete = false
      return undefined
    }
    if (!this.#hasDetails) return { name: prefix + name, type: typeOf(stats) }
    return { name: prefix + name, type: typeOf(stats), size: stats.size, mtime: isoTime(stats.mtimeMs) }
  }

  async #enter(above: Folder, name: string): Promise<void> {
    const { path } = above.target
    // Another root may begin here; the deepest one decides.
    const target = this.#filesRoot.roots.locateLink(`${path === '/' ? '' : path}/${name}`, above.target)
    const depth = above.depth + 1
    const descriptor = depth <= this.#maxDepth ? this.#open(above.descriptor, name, target) : undefined
    if (descriptor === undefined) {
      this.#isComplete = false
      return
    }
    try {
      await this.list({ descriptor, target, depth, prefix: `${above.prefix}${name}/` })
    } catch (error) {
      if (!isSystemError(error)) throw error
      // What the operating system refuses to show is left out.
      this.#isComplete = false
    } finally {
      closeSync(descriptor)
    }
  }

  /** A secret or denied folder is named but not entered; nor is what became a link meanwhile, or what the system refuses. */
  #open(above: number, name: string, target: FileTarget): number | undefined {
    try {
      this.#filesRoot.pass(target, 'read', this.#call)
      const folder = openFolder(above, name)
      return typeof folder === 'number' ? folder : undefined
    } catch (error) {
      if (ToolError.is(error) || isSystemError(error)) return undefined
      throw error
    }
  }
}

function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev
}

/**
 * Yields what is in a folder in batches, unsorted. A small folder is read synchronously, which is faster; any other piece
 * by piece, so that one with millions of names neither fills the memory nor blocks other work.
 */
export function* childrenOf(descriptor: number, folderBytes: number, hasDetails: boolean): Generator<FolderChild[]> {
  // Without descriptors it would be unknown which folder is read piece by piece.
  if ((folderBytes > 0 && folderBytes <= SMALL_FOLDER_BYTES) || fileAccess.level === 'paths') {
    yield hasDetails ? namesAt(descriptor).map((name) => ({ name })) : typesAt(descriptor)
    return
  }
  const folder = opendirSync(fileAccess.at(descriptor, '.'), { bufferSize: CHILDREN_AT_ONCE })
  try {
    let children: FolderChild[] = []
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      children.push({ name: entry.name, type: hasDetails ? undefined : typeOf(entry) })
      if (children.length < CHILDREN_AT_ONCE) continue
      yield children
      children = []
    }
    yield children
  } finally {
    folder.closeSync()
  }
}

/** An open folder that the call may read. The receiver closes its descriptor. */
interface TargetFolder {
  readonly descriptor: number
  readonly target: FileTarget
}

/** Opens a folder for a call, following links that stay inside; the checks run on the target that was opened. */
function openTargetFolder(filesRoot: FilesRoot, call: FilesCall, path: string): TargetFolder {
  const opened = followLinks(filesRoot.roots, path, open)
  try {
    filesRoot.pass(opened.target, 'read', call)
    return opened
  } catch (error) {
    closeSync(opened.descriptor)
    throw error
  }
}

function open(target: FileTarget): TargetFolder | LinkTarget {
  const opened = inParent(target, (parent, name) => {
    const folder = openLast(parent, name, target)
    if (typeof folder === 'number') return { descriptor: folder, target }
    return folder && destination(target, target.names.length - 1, folder)
  })
  if (opened) return opened
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

function openLast(parent: number, name: string, { path }: FileTarget): number | LinkTarget | undefined {
  try {
    return openFolder(parent, name)
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is a file, not a folder.`, {
      hint: 'Read the file, or list the folder that it is in.',
    })
  }
}

/** The stats of an entry; links that stay inside are followed, as when reading. */
export async function statEntry(filesRoot: FilesRoot, call: FilesCall, path: string): Promise<FileFacts> {
  const { target, stats } = followLinks(filesRoot.roots, path, look)
  filesRoot.pass(target, 'read', call)
  const type = typeOf(stats)
  if (target.saysFolder && type !== 'directory') {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is spelled like a folder, but is none.`, {
      hint: 'Leave out the slash at the end.',
    })
  }
  const { size, mtimeMs, mode } = stats
  return { path: target.path, type, bytes: size, modified: isoTime(mtimeMs), mode: mode & 0o7777 }
}

function look(target: FileTarget): { target: FileTarget; stats: Stats } | LinkTarget {
  const found = inParent(target, (parent, name) => {
    const stats = statAt(parent, name)
    const link = stats?.isSymbolicLink() ? lastLink(target, parent, name) : undefined
    return link ?? (stats && { target, stats })
  })
  if (found) return found
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

const MAX_MS = 8.64e15

let lastSecond = Number.NaN
let lastSecondText = ''

/**
 * A time of the file system as ISO text; one outside the range of dates (a damaged disk) becomes the nearest one. Entries
 * of a listing often have the same second: formatting only the rest is ten times faster than `toISOString`, which took a
 * tenth of the time of a listing.
 */
export function isoTime(milliseconds: number): string {
  const time = Math.floor(Math.max(-MAX_MS, Math.min(MAX_MS, milliseconds)))
  const second = Math.floor(time / 1_000)
  if (second !== lastSecond) {
    lastSecondText = new Date(second * 1_000).toISOString().slice(0, -4)
    lastSecond = second
  }
  return `${lastSecondText}${String(time - second * 1_000).padStart(3, '0')}Z`
}
