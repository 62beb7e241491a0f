import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readBounded } from '../disk/index.ts'
import { type GitReport, type IndexedFile, pointedTo, readGitSettings } from '../git/index.ts'
import { gitHash, ObjectReader, readPart, UncheckedObject, withFile } from './object-content.ts'

/** Larger files are not compared with another end of their lines. */
const MAX_IN_MEMORY = 32 * 1024 ** 2
const PIECE_BYTES = 1024 ** 2
/** Of one index: more are compared again each time. */
const MAX_KNOWN = 200_000

/**
 * Finds files that `git status` takes for unchanged although their content is another one: git does not read a file whose
 * times and size are those in the index, and a command can write both.
 */
export class StatCache {
  /** By index: entries of the owner, and those that were compared. */
  readonly #known = new Map<string, Set<string>>()

  /** Begins to compare an index. Without commands, all that is in one that was never seen is the owner's. */
  open(index: string, isOwners: boolean): OpenStatCache {
    const known = this.#known.get(index)
    const entries = known ?? new Set<string>()
    this.#known.set(index, entries)
    return new OpenStatCache(index, entries, isOwners && known === undefined)
  }
}

class OpenStatCache {
  readonly #index: string
  readonly #known: Set<string>
  readonly #isTrusted: boolean
  readonly #present = new Set<string>()
  readonly #open: IndexedFile[] = []

  constructor(index: string, known: Set<string>, isTrusted: boolean) {
    this.#index = index
    this.#known = known
    this.#isTrusted = isTrusted
  }

  /** Call with each entry of the index. */
  readonly visit = (file: IndexedFile): void => {
    const key = keyOf(file)
    if (this.#isTrusted && this.#known.size < MAX_KNOWN) this.#known.add(key)
    if (!this.#isTrusted && !this.#known.has(key)) this.#open.push(file)
    else this.#present.add(key)
  }

  /** Compares the files of new entries with their hashes. */
  async findHidden(): Promise<GitReport[]> {
    for (const key of this.#known) if (!this.#present.has(key)) this.#known.delete(key)
    const workTree = workTreeOf(this.#index)
    const writtenAt = this.#open.length > 0 ? statsOf(this.#index)?.mtimeNs : undefined
    if (workTree === undefined || writtenAt === undefined) return []
    const reader = new ObjectReader()
    const hidden: GitReport[] = []
    for (const file of this.#open) {
      const path = join(workTree, file.path)
      const stats = statsOf(path)
      // Git reads a file that may have changed after the index was written.
      const isRacy = file.stat.readUInt32BE(8) >= Number(writtenAt / NS)
      if (!stats || isRacy || !isSameState(file.stat, stats)) continue
      const about = await compare(path, stats, file.hash, reader)
      if (about !== 'same') hidden.push({ about, name: file.path, hash: file.hash.toString('hex') })
      else if (this.#known.size < MAX_KNOWN) this.#known.add(keyOf(file))
    }
    return hidden
  }
}

const NS = 1_000_000_000n

function keyOf({ path, stat, hash }: IndexedFile): string {
  return `${path}\0${stat.toString('latin1')}${hash.toString('latin1')}`
}

/** The work tree of a repository, of a further worktree or of a submodule. */
export function workTreeOf(index: string): string | undefined {
  const gitFolder = dirname(index)
  const pointer = readBounded(join(gitFolder, 'gitdir'))
  const file = pointer === undefined ? undefined : pointedTo(gitFolder, pointer)
  if (file !== undefined) return dirname(file)
  for (const setting of readGitSettings(readBounded(join(gitFolder, 'config')) ?? ''))
    if (setting !== 'unreadable' && setting.section === 'core' && setting.key === 'worktree')
      return resolve(gitFolder, setting.value)
  return gitFolder.endsWith('/.git') ? dirname(gitFolder) : undefined
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // It is out of reach, for git too.
    return undefined
  }
}

/** Whether git takes the file for the one in the index. Many builds of git compare whole seconds. */
function isSameState(stat: Buffer, { ctimeNs, mtimeNs, ino, mode, uid, gid, size }: BigIntStats): boolean {
  const numbers = [
    [0, ctimeNs / NS],
    [8, mtimeNs / NS],
    [20, ino],
    [28, uid],
    [32, gid],
    [36, size],
  ] as const
  const isSame = numbers.every(([at, value]) => BigInt(stat.readUInt32BE(at)) === BigInt.asUintN(32, value))
  return isSame && (stat.readUInt32BE(24) & TYPE) === (Number(mode) & TYPE)
}

/** The part of a mode that says whether it is a file or a link. */
const TYPE = 0o170000

async function compare(
  path: string,
  stats: BigIntStats,
  hash: Buffer,
  reader: ObjectReader,
): Promise<'same' | 'hidden' | 'unchecked'> {
  try {
    return (await hasHash(path, stats, hash, reader)) ? 'same' : 'hidden'
  } catch (error) {
    // What is gone or cannot be read, git cannot read either.
    return error instanceof UncheckedObject ? 'unchecked' : 'same'
  }
}

/** Whether a file has this content, or the one that git makes of it for a commit. */
async function hasHash(path: string, stats: BigIntStats, hash: Buffer, reader: ObjectReader): Promise<boolean> {
  if (stats.isSymbolicLink()) return blobHash(readlinkSync(path, 'buffer'), hash.length).equals(hash)
  let isRight = false
  await withFile(path, async (file) => {
    const size = file.end
    const raw = gitHash(hash.length).update(`blob ${size}\0`)
    const sha256 = createHash('sha256')
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const piece = readPart({ ...file, start: at, end: Math.min(size, at + PIECE_BYTES) })
      await reader.spend(piece.length)
      raw.update(piece)
      sha256.update(piece)
    }
    isRight = raw.digest().equals(hash)
    if (isRight) return
    // Git LFS commits a description of the file.
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256.digest('hex')}\nsize ${size}\n`
    isRight = blobHash(Buffer.from(pointer), hash.length).equals(hash)
    if (isRight || size > MAX_IN_MEMORY) return
    const text = readPart(file).toString('latin1').replaceAll('\r\n', '\n')
    isRight = blobHash(Buffer.from(text, 'latin1'), hash.length).equals(hash)
  })
  return isRight
}

function blobHash(content: Buffer, hashBytes: number): Buffer {
  return gitHash(hashBytes).update(`blob ${content.length}\0`).update(content).digest()
}
