import { closeSync, fstatSync, lstatSync, type Stats } from 'node:fs'
import type { ListEntry, Listing, ListOptions } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { fileAccess } from '../access/choose-access.ts'
import { openFolder } from '../at-descriptor.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { checkCount } from './check-count.ts'
import { folderNames } from './folder-names.ts'
import { isoTime } from './iso-time.ts'
import { openTargetFolder } from './open-target-folder.ts'
import { typeOf } from './stat-entry.ts'

const DEFAULT_ENTRIES = 2_000
const DEFAULT_DEPTH = 10
/** Each level holds a descriptor while those below are listed. */
const MAX_DEPTH = 64
/** Nobody gets more, whatever is asked for: a tree of millions must not fill the memory. */
const MAX_ENTRIES = 100_000
/** So many names of one folder are sorted at least, so that a small listing of it begins at the beginning. */
const MIN_NAMES = 20_000
const TURN_MS = 5
/** Looking at the clock costs something, too: after so many entries. */
const LOOK_EVERY = 32

/** A folder on the way down. */
interface Folder {
  readonly descriptor: number
  readonly target: Target
  /** Its own size, not that of what is in it. */
  readonly bytes: number
  readonly depth: number
  /** What its entries' names begin with: its own name in the listing and a slash. */
  readonly prefix: string
}

/** Lists a folder and, when asked, those below it; links are named and never entered. */
export async function listFolder(door: FilesDoor, call: FilesCall, path: string, options: ListOptions = {}) {
  const walk = new ListWalk(door, call, options)
  const { descriptor, target } = openTargetFolder(door, call, path)
  try {
    await walk.list({ descriptor, target, bytes: fstatSync(descriptor).size, depth: 1, prefix: '' })
    return walk.listing(target.path)
  } finally {
    closeSync(descriptor)
  }
}

class ListWalk {
  readonly #door: FilesDoor
  readonly #call: FilesCall
  readonly #signal: AbortSignal
  readonly #maxEntries: number
  readonly #maxDepth: number
  readonly #includeHidden: boolean
  readonly #recursive: boolean
  readonly #entries: ListEntry[] = []
  #isComplete = true
  #looks = 0
  #turnEnds = performance.now() + TURN_MS

  constructor(door: FilesDoor, call: FilesCall, options: ListOptions) {
    this.#door = door
    this.#call = call
    this.#signal = call.signal()
    this.#maxEntries = Math.min(MAX_ENTRIES, checkCount('maxEntries', options.maxEntries, DEFAULT_ENTRIES))
    this.#maxDepth = Math.min(MAX_DEPTH, checkCount('maxDepth', options.maxDepth, DEFAULT_DEPTH, 1))
    this.#includeHidden = options.includeHidden ?? false
    this.#recursive = options.recursive ?? false
  }

  /** First all entries of a folder, then those below: what a limit leaves out is deep rather than near. */
  async list(folder: Folder): Promise<void> {
    const folders: { name: string; bytes: number }[] = []
    const path = fileAccess.prefix(folder.descriptor)
    for (const name of await this.#names(folder)) {
      if (this.#entries.length >= this.#maxEntries) {
        this.#isComplete = false
        return
      }
      const entry = this.#add(folder, path, name)
      if (entry?.type === 'directory') folders.push({ name, bytes: entry.size })
      if (this.#isTurnOver()) await this.#giveTurn()
    }
    if (!this.#recursive) return
    for (const { name, bytes } of folders) await this.#enter(folder, name, bytes)
  }

  listing(path: string): Listing {
    if (this.#recursive) this.#entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    return { path, entries: this.#entries, isComplete: this.#isComplete }
  }

  /** The names to list, sorted, each once. */
  async #names({ descriptor, bytes }: Folder): Promise<string[]> {
    const names: string[] = []
    const most = Math.max(MIN_NAMES, this.#maxEntries)
    for (const batch of folderNames(descriptor, bytes)) {
      for (const name of batch) if (this.#includeHidden || !name.startsWith('.')) names.push(name)
      if (performance.now() > this.#turnEnds) await this.#giveTurn()
      if (names.length <= most) continue
      this.#isComplete = false
      names.length = most
      break
    }
    return this.#withoutTwins(names.sort())
  }

  /** Names that are no UTF-8 may look alike once decoded; then at most one of them is a name that can be said. */
  #withoutTwins(names: string[]): string[] {
    const once = names.filter((name, index) => name !== names[index - 1])
    if (once.length < names.length) this.#isComplete = false
    return once
  }

  /** `path` leads to the folder, and ends with a slash. */
  #add({ descriptor, prefix }: Folder, path: string, name: string): ListEntry | undefined {
    const stats = fileAccess.look(descriptor, () => lstatSync(path + name, { throwIfNoEntry: false }), isSame)
    if (!stats) {
      // Gone meanwhile; but a name that is no UTF-8 cannot be said, and so not be listed.
      if (name.includes('\ufffd')) this.#isComplete = false
      return undefined
    }
    const entry = { name: prefix + name, type: typeOf(stats), size: stats.size, mtime: isoTime(stats.mtimeMs) }
    this.#entries.push(entry)
    return entry
  }

  async #enter(above: Folder, name: string, bytes: number): Promise<void> {
    const { path } = above.target
    // Another root may begin here; the deepest one decides.
    const target = this.#door.roots.locateLink(`${path === '/' ? '' : path}/${name}`, above.target)
    const depth = above.depth + 1
    const descriptor = depth <= this.#maxDepth ? this.#open(above.descriptor, name, target) : undefined
    if (descriptor === undefined) {
      this.#isComplete = false
      return
    }
    try {
      await this.list({ descriptor, target, bytes, depth, prefix: `${above.prefix}${name}/` })
    } catch (error) {
      if (!isSystemError(error)) throw error
      // What the operating system refuses to show is left out.
      this.#isComplete = false
    } finally {
      closeSync(descriptor)
    }
  }

  /** A secret or denied folder is named but not entered; nor is what became a link meanwhile, or what the system refuses. */
  #open(above: number, name: string, target: Target): number | undefined {
    try {
      this.#door.pass(target, 'read', this.#call)
      const folder = openFolder(above, name)
      return typeof folder === 'number' ? folder : undefined
    } catch (error) {
      if (ToolError.is(error) || isSystemError(error)) return undefined
      throw error
    }
  }

  #isTurnOver(): boolean {
    this.#looks += 1
    return this.#looks % LOOK_EVERY === 0 && performance.now() > this.#turnEnds
  }

  async #giveTurn(): Promise<void> {
    await new Promise(setImmediate)
    throwIfAborted(this.#signal)
    this.#turnEnds = performance.now() + TURN_MS
  }
}

function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
