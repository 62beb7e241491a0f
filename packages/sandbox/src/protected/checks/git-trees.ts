import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { constants, inflateSync } from 'node:zlib'
import { errnoOf } from '@tool-hub/core/lib'
import { readBounded } from '../disk/index.ts'
import { MAX_PACKED_HEADER_BYTES, type PackIndex, packedOffset, readPackedHeader } from '../git/index.ts'
import { commonGitFolder, hashBytesOf } from '../repository/index.ts'
import {
  type FilePart,
  type GitObject,
  gitHash,
  type ObjectReader,
  PackContent,
  readPart,
  UncheckedObject,
  WrongObject,
  withFile,
} from './object-content.ts'

/** An entry of a tree. */
export interface GitTreeEntry {
  /** In a tree that git has not made, also with slashes. */
  readonly name: string
  readonly kind: 'tree' | 'link' | 'other'
  /** Equal for two entries with the same mode and content. */
  readonly mark: string
  readonly hash: string
}

/** A larger commit or tree is not read. */
const MAX_OBJECT_BYTES = 8 * 1024 ** 2
const MAX_START_BYTES = 512
const MAX_TAGS = 10
const MAX_ALTERNATES = 20
/** Of trees that are kept for the next question. */
const MAX_KEPT_ENTRIES = 100_000
/** How many entries are read in one step. */
const STEP_ENTRIES = 1_000
const FOLDER_KINDS = new Map<number, GitTreeEntry['kind']>([
  [0o040000, 'tree'],
  [0o120000, 'link'],
])

/** Reads commits and trees of a repository, and compares each with its hash. Throws for what is missing or wrong. */
export class GitTrees {
  readonly #hashBytes: number
  readonly #reader: ObjectReader
  readonly #folders: readonly string[]
  #packs: string[] | undefined
  readonly #kept = new Map<string, readonly GitTreeEntry[]>()
  #keptEntries = 0

  constructor(gitFolder: string, reader: ObjectReader) {
    this.#hashBytes = hashBytesOf(gitFolder)
    this.#reader = reader
    this.#folders = objectFolders(join(commonGitFolder(gitFolder), 'objects'))
  }

  /** The trees that git takes from what a ref names: that of the commit, or also those of a stash. */
  async treesOf(ref: string, isStash: boolean): Promise<string[]> {
    // Git takes either case.
    let name = ref.toLowerCase()
    let { type, bytes } = await this.#read(name)
    for (let tags = 0; type === 'tag'; tags++) {
      name = this.#field(bytes, 'object') ?? ''
      if (tags === MAX_TAGS) throw new UncheckedObject('There are too many tags of tags.')
      ;({ type, bytes } = await this.#read(name))
    }
    if (type === 'blob') return []
    if (type === 'tree') return [name]
    const tree = this.#field(bytes, 'tree')
    if (type !== 'commit' || tree === undefined) throw new WrongObject()
    // Its second parent is the index, its third one has the untracked files.
    const parents = isStash ? parentsOf(bytes).slice(1, 3) : []
    const trees = [tree]
    for (const parent of parents) trees.push(...(await this.treesOf(parent, false)))
    return trees
  }

  async entriesOf(tree: string): Promise<readonly GitTreeEntry[]> {
    const kept = this.#kept.get(tree)
    if (kept) return kept
    const { type, bytes } = await this.#read(tree)
    if (type !== 'tree') throw new WrongObject()
    const entries: GitTreeEntry[] = []
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = bytes.indexOf(0, at)
      const [, mode, name] = /^([0-7]{1,7}) (.+)$/s.exec(bytes.toString('utf8', at, nameEnd)) ?? []
      const hash = bytes.toString('hex', nameEnd + 1, nameEnd + 1 + this.#hashBytes)
      if (mode === undefined || name === undefined || hash.length !== this.#hashBytes * 2) throw new WrongObject()
      const kind = FOLDER_KINDS.get(Number.parseInt(mode, 8) & 0o170000) ?? 'other'
      entries.push({ name, kind, hash, mark: `${mode} ${hash}` })
      at = nameEnd + 1 + this.#hashBytes
      if (entries.length % STEP_ENTRIES === 0) await this.#reader.spend()
    }
    this.#keptEntries += entries.length
    if (this.#keptEntries > MAX_KEPT_ENTRIES) this.#kept.clear()
    if (this.#kept.size === 0) this.#keptEntries = entries.length
    this.#kept.set(tree, entries)
    return entries
  }

  /** The hash that begins such a line, which is the first of its object. */
  #field(bytes: Buffer, name: 'object' | 'tree'): string | undefined {
    const text = bytes.toString('latin1', 0, name.length + 1 + this.#hashBytes * 2 + 1)
    return new RegExp(`^${name} ([0-9a-f]+)\\n$`, 'i').exec(text)?.[1]?.toLowerCase()
  }

  async #read(hash: string): Promise<GitObject> {
    await this.#reader.spend()
    if (!/^[0-9a-f]+$/.test(hash) || hash.length !== this.#hashBytes * 2) throw new WrongObject()
    // Git may have packed it a moment ago.
    const content = (await this.#find(hash)) ?? (await this.#find(hash))
    if (!content) throw new WrongObject()
    const sum = gitHash(this.#hashBytes).update(`${content.type} ${content.bytes.length}\0`)
    await this.#reader.hashBytes(content.bytes, sum)
    if (sum.digest('hex') !== hash) throw new WrongObject()
    return content
  }

  async #find(hash: string): Promise<GitObject | undefined> {
    for (const folder of this.#folders) {
      const loose = await ifThere(join(folder, hash.slice(0, 2), hash.slice(2)), (file) => this.#readLoose(file))
      if (loose) return loose
    }
    this.#packs ??= this.#folders.flatMap(packsIn)
    for (const index of this.#packs) {
      const packed = await ifThere(index, (file) => this.#readPacked(file, index, Buffer.from(hash, 'hex')))
      if (packed) return packed
    }
    this.#packs = undefined
    return undefined
  }

  async #readLoose(file: FilePart): Promise<GitObject> {
    const start = readPart({ ...file, end: Math.min(file.end, MAX_START_BYTES) })
    const text = inflateSync(start, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1', 0, 32)
    const [header = '', type = '', size] = /^(commit|tree|tag|blob) (\d{1,15})\0/.exec(text) ?? []
    const end = Math.min(file.end, compressedEnd(0, Number(size)))
    const bytes = await this.#reader.inflate({ ...file, end }, header.length + Number(size))
    return { type, bytes: bytes.subarray(header.length) }
  }

  async #readPacked(index: FilePart, path: string, hash: Buffer): Promise<GitObject | undefined> {
    const offset = packedOffset((start, length) => readPart({ ...index, start, end: start + length }), hash)
    if (offset === undefined) return undefined
    return ifThere(`${path.slice(0, -'.idx'.length)}.pack`, (pack) => {
      const headerAt = (start: number) => readPart({ ...pack, start, end: start + MAX_PACKED_HEADER_BYTES })
      // Where the next object begins is not known without reading the whole index; what comes after this one is ignored.
      const endOf = (start: number) =>
        Math.min(pack.end, compressedEnd(start, readPackedHeader(headerAt(start), hash.length)?.size))
      const offsetOf = (base: Buffer) =>
        packedOffset((start, length) => readPart({ ...index, start, end: start + length }), base)
      const layout: PackIndex = { offsets: new Float64Array(), hashAt: () => hash, endOf, offsetOf }
      return new PackContent(pack, layout, hash.length, this.#reader).contentAt(offset)
    })
  }
}

/** Where compressed bytes end at the latest that begin there with the header of an object. */
function compressedEnd(start: number, size: number | undefined): number {
  if (size === undefined || Number.isNaN(size)) throw new WrongObject()
  if (size > MAX_OBJECT_BYTES) throw new UncheckedObject('An object is too large.')
  return start + MAX_PACKED_HEADER_BYTES + size + (size >> 6) + 1_024
}

function parentsOf(commit: Buffer): string[] {
  const [head = ''] = commit.toString('latin1', 0, 4_096).split('\n\n')
  return [...head.matchAll(/^parent ([0-9a-f]+)$/gim)].map(([, hash]) => hash!)
}

/** The folder of objects, and those from which git borrows. */
function objectFolders(folder: string): string[] {
  const folders = new Set([folder])
  for (const each of folders) {
    for (const line of readBounded(join(each, 'info/alternates'))?.split('\n') ?? [])
      if (line !== '' && !line.startsWith('#') && folders.size < MAX_ALTERNATES) folders.add(resolve(each, line))
  }
  return [...folders]
}

function packsIn(folder: string): string[] {
  try {
    const names = readdirSync(join(folder, 'pack'))
    return names.filter((name) => name.endsWith('.idx')).map((name) => join(folder, 'pack', name))
  } catch {
    // There are none, or a command has closed the folder: then the object is missing.
    return []
  }
}

/** What a file contains; undefined if there is none. */
async function ifThere<T>(path: string, read: (file: FilePart) => Promise<T>): Promise<T | undefined> {
  let result: T | undefined
  try {
    await withFile(path, async (file) => {
      result = await read(file)
    })
    return result
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
