import { isClosedToCommands } from '../names/index.ts'
import { CachedTrees, type TreeEntry } from './cached-trees.ts'
import { ENTRY_MODES, entryPathProblem } from './entry-path.ts'

/** What is known about an index that git would have written itself. */
export interface GitIndex {
  /** How many entries it has; of a split index without those of its shared file. */
  readonly entries: number
  /** Paths of submodules: git enters these folders. */
  readonly submodules: readonly string[]
  /** Paths whose changes git does not show, because a bit in the index says so. */
  readonly assumedUnchanged: readonly string[]
  /** Paths that git does not expect in the work tree, and whose changes it does not show. */
  readonly skipped: readonly string[]
  /** Whether it is split: then nobody knows whether the trees in its cache are those of its entries. */
  readonly isSplit: boolean
  /** Caches by which git decides what to look at: what they do not name, `git status` does not show. */
  readonly caches: readonly string[]
  /** What git would write, on `git restore`, where commands may not write because other programs run it. */
  readonly runLater: readonly IndexEntry[]
}

/** A path and the hash of its content. */
interface IndexEntry {
  readonly path: string
  readonly hash: string
}

/** A file or a link in an index, in the state in which git last saw it. */
export interface IndexedFile {
  readonly path: string
  /** Times, device, inode, mode, owner and size, as in the index. */
  readonly stat: Buffer
  readonly hash: Buffer
}

/** How an index is read. */
export interface IndexOptions {
  /** Called with each file. */
  readonly visit?: (file: IndexedFile) => void
  /** The folder to which git writes the files, if that is known: it can be one in which other names count. */
  readonly workTree?: string
}

/** The size of the hashes of a repository: SHA-1 or SHA-256. */
export type HashBytes = 20 | 32

/** A larger index is not read. Enough for about half a million files. */
export const MAX_INDEX_BYTES = 64 * 1024 ** 2
const MAX_PATH_BYTES = 4096

const HEADER_BYTES = 12
/** The state of the file, before the hash. */
const STAT_BYTES = 40
const MODE_AT = 24
const MODES: ReadonlySet<number> = new Set(Object.values(ENTRY_MODES))

const ASSUME_UNCHANGED = 0x8000
const EXTENDED = 0x4000
const STAGE = 0x3000
const LENGTH = 0x0fff
const SKIP_WORKTREE = 0x4000
const INTENT_TO_ADD = 0x2000
/** Skip-worktree and intent-to-add; git does not read an index with others. */
const EXTENDED_BITS = 0x6000

/** What was found in an index, or why git could not have written it. */
type ReadIndex = GitIndex | { readonly problem: string }

/** Extensions of an index that keep git from looking at files. */
const CACHES = new Map([
  ['UNTR', 'untracked cache'],
  ['FSMN', 'fsmonitor'],
])

/** What one step may cost; one byte of a path costs 1. */
const STEP_COST = 64 * 1024
const ENTRY_COST = 64
const FOLDER_COST = 256

/**
 * Reads an index of git (versions 2 to 4, also split and sparse). Returns the problem if git could not have written it:
 * an entry that it would not have added, or bytes that two readers could understand in two ways. The time is linear in the
 * size of the file; a caller that must not block runs other work between the steps.
 */
export function* readGitIndexInSteps(
  bytes: Buffer,
  hashBytes: HashBytes,
  options: IndexOptions = {},
): Generator<undefined, ReadIndex> {
  try {
    return yield* new IndexReader(bytes, hashBytes, options).read()
  } catch (error) {
    if (error instanceof BadIndex) return { problem: error.message }
    // Node reports a read behind the end of the bytes.
    if (error instanceof RangeError) return { problem: 'it is cut off' }
    throw error
  }
}

/** Takes all steps. */
export function takeSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

class BadIndex extends Error {}

class IndexReader {
  readonly #bytes: Buffer
  readonly #hashBytes: HashBytes
  readonly #visit: ((file: IndexedFile) => void) | undefined
  readonly #workTree: string
  readonly #version: number
  readonly #count: number
  /** Where each entry begins, and whether its path shares nothing with the one before. */
  readonly #offsets: Uint32Array
  readonly #isWhole: Uint8Array
  readonly #submodules: string[] = []
  readonly #assumedUnchanged: string[] = []
  readonly #skipped: string[] = []
  readonly #runLater: IndexEntry[] = []
  readonly #trees: CachedTrees
  /** Whether something in the way to a folder is closed to commands. */
  readonly #isClosedFolder = new Map([['', false]])
  #at = HEADER_BYTES
  /** The path of the last entry, its length and its stage. */
  #path = Buffer.alloc(MAX_PATH_BYTES)
  #length = 0
  #stage = 0
  /** How many bytes it has in common with the one before. */
  #same = 0
  /** Lengths of earlier paths that the last one begins with. */
  #prefixes: number[] = []
  #hasFolders = false
  #hasNameless = false

  constructor(bytes: Buffer, hashBytes: HashBytes, { visit, workTree = '' }: IndexOptions) {
    this.#visit = visit
    this.#workTree = workTree
    if (bytes.length > MAX_INDEX_BYTES) throw new BadIndex(`it has more than ${MAX_INDEX_BYTES / 1024 ** 2} MB`)
    if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw new BadIndex('it is not an index')
    this.#bytes = bytes
    this.#hashBytes = hashBytes
    this.#version = bytes.readUInt32BE(4)
    this.#count = bytes.readUInt32BE(8)
    if (this.#version < 2 || this.#version > 4) throw new BadIndex(`version ${this.#version} is not known`)
    if (this.#count > bytes.length / (STAT_BYTES + hashBytes)) throw new BadIndex('it is cut off')
    this.#trees = new CachedTrees(hashBytes)
    this.#offsets = new Uint32Array(this.#count)
    this.#isWhole = new Uint8Array(this.#count)
  }

  *read(): Generator<undefined, GitIndex> {
    let cost = 0
    for (let entry = 0; entry < this.#count; entry++) {
      const folders = this.#trees.folders
      yield* this.#trees.add(this.#readEntry(entry))
      if (this.#trees.isFull) throw new BadIndex('it has too many folders')
      // One entry can be the first in thousands of folders.
      cost += ENTRY_COST + this.#length + FOLDER_COST * (this.#trees.folders - folders)
      if (cost < STEP_COST) continue
      cost = 0
      yield
    }
    const { isSplit, isSparse, caches } = yield* this.#readExtensions()
    if (this.#hasNameless && !isSplit) throw new BadIndex('it has an entry without a path')
    if (this.#hasFolders && !isSparse) throw new BadIndex('it has an entry for a folder')
    return {
      entries: this.#count,
      submodules: this.#submodules,
      assumedUnchanged: this.#assumedUnchanged,
      skipped: this.#skipped,
      isSplit,
      caches,
      runLater: this.#runLater,
    }
  }

  #readEntry(entry: number): TreeEntry {
    const bytes = this.#bytes
    const begin = this.#at
    const mode = bytes.readUInt32BE(begin + MODE_AT)
    const flagsAt = begin + STAT_BYTES + this.#hashBytes
    const flags = bytes.readUInt16BE(flagsAt)
    const isExtended = (flags & EXTENDED) !== 0
    const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0
    this.#offsets[entry] = begin
    const nameAt = flagsAt + (isExtended ? 4 : 2)
    const { shared, suffixAt } = this.#version === 4 ? this.#sharedPath(nameAt) : { shared: 0, suffixAt: nameAt }
    const end = bytes.indexOf(0, suffixAt)
    const length = shared + end - suffixAt
    // Git relies on the length in the flags, and the system on the NUL character: both must mean the same path.
    if (end < 0 || (flags & LENGTH) !== Math.min(length, LENGTH)) throw new BadIndex('a path has two lengths')
    if (length > MAX_PATH_BYTES) throw new BadIndex(`a path has more than ${MAX_PATH_BYTES} bytes`)
    this.#at = this.#version === 4 ? end + 1 : begin + ((nameAt - begin + length + 8) & ~7)
    this.#isWhole[entry] = shared === 0 ? 1 : 0
    this.#enterPath(shared, suffixAt, length, (flags & STAGE) >> 12)
    if ((more & ~EXTENDED_BITS) !== 0) throw this.#bad('flags that are not known')
    if (!MODES.has(mode)) throw this.#bad(`the mode ${mode.toString(8)}`)
    if (length === 0) this.#checkNameless(mode)
    else this.#checkPath(mode, begin + STAT_BYTES)
    if (flags & ASSUME_UNCHANGED) this.#assumedUnchanged.push(this.#pathText())
    // A folder of a sparse index is always skipped.
    if (more & SKIP_WORKTREE) this.#skipped.push(this.#pathText())
    const hash = bytes.subarray(begin + STAT_BYTES, flagsAt)
    if (length > 0 && this.#stage === 0 && mode !== ENTRY_MODES.submodule && mode !== ENTRY_MODES.folder)
      this.#visit?.({ path: this.#pathText(), stat: bytes.subarray(begin, begin + STAT_BYTES), hash })
    return {
      path: this.#path,
      length,
      same: this.#same,
      mode,
      hash,
      stage: this.#stage,
      isIntended: (more & INTENT_TO_ADD) !== 0,
    }
  }

  /** In version 4, a path says how much of the end of the one before it drops. */
  #sharedPath(at: number): { readonly shared: number; readonly suffixAt: number } {
    let byte = this.#bytes.readUInt8(at++)
    let dropped = byte & 0x7f
    while (byte & 0x80) {
      byte = this.#bytes.readUInt8(at++)
      dropped = (dropped + 1) * 128 + (byte & 0x7f)
      if (dropped > MAX_PATH_BYTES) break
    }
    if (dropped > this.#length) throw new BadIndex('a path drops more than the one before it has')
    return { shared: this.#length - dropped, suffixAt: at }
  }

  /** Paths are in the order of their bytes; none is a file and a folder. */
  #enterPath(shared: number, suffixAt: number, length: number, stage: number): void {
    const bytes = this.#bytes
    const path = this.#path
    const least = Math.min(this.#length, length)
    const suffix = suffixAt - shared
    let same = shared
    while (same < least && path[same] === bytes[suffix + same]) same++
    const isEqual = same === length && same === this.#length
    const isAfter = same === this.#length || (same < length && bytes[suffix + same]! > path[same]!)
    const isNextStage = stage > this.#stage && this.#stage > 0
    const isInOrder = this.#length === 0 || (isEqual ? isNextStage : isAfter)
    bytes.copy(path, same, suffix + same, suffix + length)
    this.#same = same
    this.#length = length
    this.#stage = stage
    if (!isInOrder) throw this.#bad('a place out of order')
    while ((this.#prefixes.at(-1) ?? 0) > same) this.#prefixes.pop()
    if (stage > 0 || length === 0) return
    if (this.#prefixes.some((prefix) => path[prefix] === 0x2f)) throw this.#bad('a file in the place of its folder')
    this.#prefixes.push(length)
  }

  #checkNameless(mode: number): void {
    this.#hasNameless = true
    // It replaces an entry of the shared file; which one is only known to git.
    if (mode === ENTRY_MODES.submodule) throw new BadIndex('it is split and changes the entry of a submodule')
  }

  #checkPath(mode: number, hashAt: number): void {
    const problem = entryPathProblem(this.#path, this.#length, mode)
    if (problem !== undefined) throw this.#bad(problem)
    const path = this.#pathText()
    // A HEAD makes a repository of its folder: git then obeys the config next to it.
    if (this.#isClosed(path) || /(?:^|\/)head$/i.test(path))
      this.#runLater.push({ path, hash: this.#bytes.toString('hex', hashAt, hashAt + this.#hashBytes) })
    if (mode === ENTRY_MODES.submodule) this.#submodules.push(this.#pathText())
    if (mode === ENTRY_MODES.folder) this.#hasFolders = true
  }

  /** Folders are remembered: entries of one folder follow each other. */
  #isClosed(path: string): boolean {
    const slash = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(0, slash))
    let isInClosed = this.#isClosedFolder.get(folder)
    if (isInClosed === undefined) {
      isInClosed = this.#isClosed(folder)
      this.#isClosedFolder.set(folder, isInClosed)
    }
    if (isInClosed) return true
    // The last two names count.
    const above = folder.includes('/') ? folder : `${this.#workTree}/${folder}`
    return isClosedToCommands(path.slice(slash + 1), slash < 0 ? this.#workTree : above)
  }

  *#readExtensions(): Generator<undefined, { isSplit: boolean; isSparse: boolean; caches: readonly string[] }> {
    const bytes = this.#bytes
    const begin = this.#at
    const end = bytes.length - this.#hashBytes
    const found = new Map<string, { readonly at: number; readonly size: number }>()
    if (begin > end) throw new BadIndex('it is cut off')
    while (this.#at < end) {
      const name = bytes.toString('latin1', this.#at, this.#at + 4)
      const size = bytes.readUInt32BE(this.#at + 4)
      if (found.has(name)) throw new BadIndex('it has an extension twice')
      found.set(name, { at: this.#at + 8, size })
      this.#at += 8 + size
      // Git ignores what it does not know only if its name begins with a capital letter.
      if (!/^[A-Z]/.test(name) && name !== 'link' && name !== 'sdir')
        throw new BadIndex('it has an extension that is not known')
    }
    if (this.#at !== end) throw new BadIndex('an extension is cut off')
    this.#checkOffsets(begin, found.get('EOIE'), found.get('IEOT'))
    const cache = found.get('TREE')
    const isSplit = found.has('link')
    if (cache && !isSplit && !(yield* this.#trees.accountsFor(bytes.subarray(cache.at, cache.at + cache.size))))
      throw new BadIndex('git commit would not commit what it shows')
    const caches = [...CACHES].flatMap(([name, text]) => (found.has(name) ? [text] : []))
    return { isSplit, isSparse: found.has('sdir'), caches }
  }

  /** Git with several threads reads the entries where these tables say they are. */
  #checkOffsets(
    entriesEnd: number,
    eoie?: { readonly at: number },
    ieot?: { readonly at: number; size: number },
  ): void {
    const bytes = this.#bytes
    if (eoie && bytes.readUInt32BE(eoie.at) !== entriesEnd) throw new BadIndex('its tables contradict each other')
    if (!ieot) return
    let entry = 0
    for (let at = ieot.at + 4; at + 8 <= ieot.at + ieot.size; at += 8) {
      const isThere = bytes.readUInt32BE(at) === (this.#offsets[entry] ?? entriesEnd)
      if (!isThere || this.#isWhole[entry] === 0) throw new BadIndex('its tables contradict each other')
      entry += bytes.readUInt32BE(at + 4)
    }
    if (entry !== this.#count) throw new BadIndex('its tables contradict each other')
  }

  #pathText(): string {
    return this.#path.toString('utf8', 0, this.#length)
  }

  #bad(what: string): BadIndex {
    return new BadIndex(`its entry ${JSON.stringify(this.#pathText().slice(0, 200))} has ${what}`)
  }
}
