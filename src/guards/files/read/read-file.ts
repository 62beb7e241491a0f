import { createHash } from 'node:crypto'
import { closeSync } from 'node:fs'
import type { FileBytes, FileText } from '../../../contracts/handles.ts'
import { noteTextHash, sha256 } from '../../../value/hash.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import { checkCount } from './check-count.ts'
import { decodeText } from './decode-text.ts'
import { type OpenFile, openFile } from './open-file.ts'
import { readNow, readPart, readSmall, SMALL_BYTES } from './read-content.ts'
import { refuseLarger } from './refuse-larger.ts'

/** Reads a whole file as the text it held when it was opened. */
export async function readFile(door: FilesDoor, call: FilesCall, path: string, maxBytes?: number): Promise<FileText> {
  const file = openFile(door, call, path)
  try {
    refuseLarger(file, mostBytes(door, call, maxBytes), tooLargeHint(door, call, maxBytes), allowedBytes(door, call))
    const { path: realPath } = file.target
    const { content, hash } = file.size <= SMALL_BYTES ? hashSmall(readSmall(file)) : await readLarge(file, call)
    const { text, encoding } = decodeText(content, realPath)
    if (encoding === 'utf-8') noteTextHash(text, hash)
    call.seen?.set(realPath, hash)
    return { path: realPath, text, bytes: content.length, sha256: hash, encoding }
  } finally {
    closeSync(file.descriptor)
  }
}

interface Hashed {
  readonly content: Buffer
  readonly hash: string
}

function hashSmall(content: Buffer): Hashed {
  return { content, hash: sha256(content) }
}

/** A piece is hashed while the next one is being read. */
async function readLarge({ descriptor, size }: OpenFile, call: FilesCall): Promise<Hashed> {
  const hash = createHash('sha256')
  const content = await readPart(descriptor, 0, size, call.signal(), (piece) => hash.update(piece))
  return { content, hash: hash.digest('hex') }
}

/** Reads some bytes of a file of any size; none when the file ends before `offset`. */
export async function readBytes(
  door: FilesDoor,
  call: FilesCall,
  path: string,
  options: { readonly offset?: number; readonly maxBytes?: number } = {},
): Promise<FileBytes> {
  const offset = checkCount('offset', options.offset, 0)
  const limit = mostBytes(door, call, options.maxBytes)
  const { descriptor, size, target } = openFile(door, call, path)
  try {
    const length = Math.max(0, Math.min(limit, size - offset))
    const content = await readSome(descriptor, offset, length, call)
    return { path: target.path, content, offset, bytes: size }
  } finally {
    closeSync(descriptor)
  }
}

/** The smallest of what the caller asks for, what the deciding rule allows and what the owner allows. */
export function mostBytes(door: FilesDoor, call: FilesCall, asked?: number): number {
  const allowed = allowedBytes(door, call)
  return Math.min(checkCount('maxBytes', asked, Math.min(door.usualReadBytes, allowed)), allowed)
}

function allowedBytes(door: FilesDoor, call: FilesCall): number {
  return Math.min(call.maxBytes ?? door.maxReadBytes, door.maxReadBytes)
}

/** What the caller can do, and the owner, who may have set the limit by a rule. */
function tooLargeHint(door: FilesDoor, call: FilesCall, asked: number | undefined): string {
  const part = 'Read a part of it (lines with offset and limit, or bytes)'
  if (asked !== undefined && asked < allowedBytes(door, call)) return `${part}.`
  const isOfRule = call.maxBytes !== undefined && call.maxBytes <= mostBytes(door, call)
  return `${part}, or have the owner raise ${isOfRule ? 'the size limit of the rule' : 'limits.read'}.`
}

function readSome(descriptor: number, offset: number, length: number, call: FilesCall): Promise<Buffer> | Buffer {
  if (length > SMALL_BYTES) return readPart(descriptor, offset, length, call.signal())
  const content = Buffer.allocUnsafeSlow(length)
  return content.subarray(0, readNow(descriptor, content, length, offset))
}
