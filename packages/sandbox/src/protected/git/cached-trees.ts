import { createHash } from 'node:crypto'
import { ENTRY_MODES } from './entry-path.ts'

/** One entry of an index. */
export interface TreeEntry {
  /** A buffer that begins with its path, and the length of the path. */
  readonly path: Buffer
  readonly length: number
  /** How many bytes of the path are those of the path before it. */
  readonly same: number
  readonly mode: number
  readonly hash: Buffer
  readonly stage: number
  /** It has no content yet: `git add -N`. */
  readonly isIntended: boolean
}

/** A folder in an index. */
interface Folder {
  readonly children: Map<string, Folder>
  entries: number
  /** Nobody can commit before a conflict is resolved, and git builds the tree then. */
  hasConflict: boolean
  hash?: Buffer
}

/** A folder whose entries are being read. */
interface OpenFolder {
  readonly folder: Folder
  readonly name: string
  /** Where the names in it begin in a path. */
  readonly end: number
  readonly content: TreeContent
}

const SLASH = 0x2f
/** An index with more is not read. */
const MAX_FOLDERS = 200_000
/** No path on disk is deeper. */
const MAX_DEPTH = 2_048
/** How many trees of the cache are compared in one step. */
const STEP_TREES = 500
/** How much of a tree is hashed in one step. */
const STEP_BYTES = 1024 ** 2

/**
 * The trees of an index, built from its entries. An index also names them in its cache, and `git commit` takes them from
 * there: it would commit what `git status` and `git diff --cached`, which compare the entries, do not show.
 */
export class CachedTrees {
  readonly #hashName: 'sha1' | 'sha256'
  readonly #root = newFolder()
  readonly #open: OpenFolder[]
  /** How many folders there are so far. */
  folders = 0

  constructor(hashBytes: number) {
    this.#hashName = hashBytes === 32 ? 'sha256' : 'sha1'
    this.#open = [{ folder: this.#root, name: '', end: 0, content: new TreeContent() }]
  }

  /** Whether there are more folders than are read. */
  get isFull(): boolean {
    return this.folders > MAX_FOLDERS
  }

  /** Adds an entry; they come in the order of their paths. The folder that ends before it can be large. */
  *add({ path, length, same, mode, hash, stage, isIntended }: TreeEntry): Generator<undefined, void> {
    while (this.#open.at(-1)!.end > same) yield* this.#close()
    const isFolder = mode === ENTRY_MODES.folder
    const last = isFolder ? length - 1 : length
    let at = this.#open.at(-1)!
    for (let slash = path.indexOf(SLASH, at.end); slash >= 0 && slash < last; slash = path.indexOf(SLASH, at.end)) {
      at = {
        folder: newFolder(),
        name: path.toString('latin1', at.end, slash),
        end: slash + 1,
        content: new TreeContent(),
      }
      this.#open.push(at)
      this.folders++
    }
    at.folder.entries++
    if (stage > 0) at.folder.hasConflict = true
    else if (!isIntended) at.content.add(mode, path.subarray(at.end, last), hash)
    if (isFolder) at.folder.children.set(path.toString('latin1', at.end, last), { ...newFolder(), entries: 1, hash })
  }

  /** Returns whether every tree that the cache names is the one of its folder. */
  *accountsFor(cache: Buffer): Generator<undefined, boolean> {
    while (this.#open.length > 0) yield* this.#close()
    const hashBytes = this.#hashName === 'sha1' ? 20 : 32
    /** The folders around the next one, and how many of them are still to come in each. */
    const around: { readonly folder: Folder | undefined; left: number }[] = []
    let at = 0
    for (let count = 0; at < cache.length; count++) {
      if (count % STEP_TREES === STEP_TREES - 1) yield
      const nameEnd = cache.indexOf(0, at)
      const lineEnd = nameEnd < 0 ? -1 : cache.indexOf(0x0a, nameEnd)
      if (lineEnd < 0 || lineEnd - nameEnd > MAX_COUNTS) return false
      const [, entries, folders] = COUNTS.exec(cache.toString('latin1', nameEnd + 1, lineEnd)) ?? []
      if (folders === undefined) return false
      while (around.at(-1)?.left === 0) around.pop()
      const parent = around.at(-1)
      if ((count > 0 && !parent) || around.length > MAX_DEPTH) return false
      if (parent) parent.left--
      const folder = parent ? parent.folder?.children.get(cache.toString('latin1', at, nameEnd)) : this.#root
      around.push({ folder, left: Number(folders) })
      at = lineEnd + 1
      if (entries === '-1') continue
      if (!folder || !isTreeOf(folder, Number(entries), cache.subarray(at, at + hashBytes))) return false
      at += hashBytes
    }
    return true
  }

  *#close(): Generator<undefined, void> {
    const { folder, name, content } = this.#open.pop()!
    folder.hash = yield* content.hash(this.#hashName)
    const parent = this.#open.at(-1)
    if (!parent) return
    parent.folder.children.set(name, folder)
    parent.folder.entries += folder.entries
    parent.folder.hasConflict ||= folder.hasConflict
    // Git has no empty trees: only what is still to come can be in it.
    if (!content.isEmpty) parent.content.add(ENTRY_MODES.folder, Buffer.from(name, 'latin1'), folder.hash)
  }
}

/** Entries, or -1 for a tree that is not known, and folders. */
const COUNTS = /^(-1|\d{1,9}) (\d{1,9})$/
const MAX_COUNTS = 24

function newFolder(): Folder {
  return { children: new Map(), entries: 0, hasConflict: false }
}

function isTreeOf({ entries, hasConflict, hash }: Folder, count: number, cached: Buffer): boolean {
  return hasConflict || (entries === count && hash?.equals(cached) === true)
}

/** What git hashes for a tree. */
class TreeContent {
  #bytes = Buffer.alloc(0)
  #length = 0

  get isEmpty(): boolean {
    return this.#length === 0
  }

  add(mode: number, name: Buffer, hash: Buffer): void {
    const start = `${mode.toString(8)} `
    const length = start.length + name.length + 1 + hash.length
    if (this.#length + length > this.#bytes.length) {
      const larger = Buffer.alloc(2 * (this.#length + length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(start, this.#length, 'latin1')
    this.#length += name.copy(this.#bytes, this.#length)
    this.#bytes[this.#length++] = 0
    this.#length += hash.copy(this.#bytes, this.#length)
  }

  *hash(name: 'sha1' | 'sha256'): Generator<undefined, Buffer> {
    const content = this.#bytes.subarray(0, this.#length)
    const hash = createHash(name).update(`tree ${content.length}\0`)
    for (let from = 0; from < content.length; from += STEP_BYTES) {
      if (from > 0) yield
      hash.update(content.subarray(from, from + STEP_BYTES))
    }
    return hash.digest()
  }
}
