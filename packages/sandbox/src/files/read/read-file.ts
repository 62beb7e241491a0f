import { isAscii, isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, read, readSync, type Stats } from 'node:fs'
import { type Encoding, type FileBytes, type FileText, ToolError, throwIfAborted } from '@tool-hub/core'
import { byteOrderMark, errnoOf, LONE_SURROGATE, noteTextHash, sha256 } from '@tool-hub/core/lib'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import type { FileTarget } from '../roots.ts'
import { followLinks, inParent, type LinkTarget, lastLink, openAt } from '../walk.ts'
import { UnchangedFiles } from './unchanged-files.ts'

/** Reads a whole file as the text it held when it was opened. */
export async function readFile(
  filesRoot: FilesRoot,
  call: FilesCall,
  path: string,
  maxBytes?: number,
): Promise<FileText> {
  const file = openFile(filesRoot, call, path)
  try {
    const limit = maxBytesOfRead(filesRoot, call, maxBytes)
    if (file.size > limit) {
      refuseLarger(file, limit, tooLargeHint(filesRoot, call, maxBytes), allowedBytes(filesRoot, call))
    }
    const { path: realPath } = file.target
    const large = file.size <= SMALL_BYTES ? undefined : await readLarge(file, call)
    const content = large?.content ?? readSmall(file)
    const hash = large?.hash ?? sha256(content)
    const { text, encoding } = decodeFile(content, realPath)
    if (encoding === 'utf-8') noteTextHash(text, hash)
    call.seen?.set(realPath, hash)
    return { path: realPath, text, bytes: content.length, sha256: hash, encoding }
  } finally {
    closeSync(file.descriptor)
  }
}

/** The hashes of large files that were read: a change that replaces one need not read it again. */
export const readHashes = new UnchangedFiles<{ readonly sha256: string }>()

/** Hashes each piece while the next one is being read. */
async function readLarge({ descriptor, size }: OpenFile, call: FilesCall): Promise<{ content: Buffer; hash: string }> {
  const hash = createHash('sha256')
  let content: Buffer = Buffer.alloc(0)
  const { sha256 } = await readHashes.learn(descriptor, size, async () => {
    content = await readPiece(descriptor, 0, size, call.signal(), (piece) => hash.update(piece))
    return { sha256: hash.digest('hex') }
  })
  return { content, hash: sha256 }
}

/** Reads some bytes of a file of any size; none if the file ends before `offset`. */
export async function readBytes(
  filesRoot: FilesRoot,
  call: FilesCall,
  path: string,
  options: { readonly offset?: number; readonly maxBytes?: number } = {},
): Promise<FileBytes> {
  const offset = checkCount('offset', options.offset, 0)
  const limit = maxBytesOfRead(filesRoot, call, options.maxBytes)
  const { descriptor, size, target } = openFile(filesRoot, call, path)
  try {
    const length = Math.max(0, Math.min(limit, size - offset))
    const content = await readSome(descriptor, offset, length, call)
    return { path: target.path, content, offset, bytes: size }
  } finally {
    closeSync(descriptor)
  }
}

/** The SHA-256 of what a file held when it was opened, read piece by piece. It does not count as having read the file. */
export async function hashFile(filesRoot: FilesRoot, call: FilesCall, path: string) {
  const file = openFile(filesRoot, call, path)
  try {
    refuseLarger(file, MAX_SCAN_BYTES, 'Hash a smaller file; one of this size would take too long.')
    return { path: file.target.path, ...(await hashOpen(file, call)) }
  } finally {
    closeSync(file.descriptor)
  }
}

async function hashOpen(file: OpenFile, call: FilesCall): Promise<{ sha256: string; bytes: number }> {
  if (file.size <= SMALL_BYTES) {
    const content = readSmall(file)
    return { sha256: sha256(content), bytes: content.length }
  }
  const hash = createHash('sha256')
  const bytes = await readFileChunks(file, call.signal(), (chunk) => hash.update(chunk))
  return { sha256: hash.digest('hex'), bytes }
}

/** The smallest of the limits of the caller, the deciding rule and the owner. */
export function maxBytesOfRead(filesRoot: FilesRoot, call: FilesCall, asked?: number): number {
  const allowed = allowedBytes(filesRoot, call)
  return Math.min(checkCount('maxBytes', asked, Math.min(filesRoot.usualReadBytes, allowed)), allowed)
}

function allowedBytes(filesRoot: FilesRoot, call: FilesCall): number {
  return Math.min(call.maxBytes ?? filesRoot.maxReadBytes, filesRoot.maxReadBytes)
}

/** What the caller can do, and the owner, who may have set the limit by a rule. */
function tooLargeHint(filesRoot: FilesRoot, call: FilesCall, asked: number | undefined): string {
  const part = 'Read a part of it (lines with offset and limit, or bytes)'
  if (asked !== undefined && asked < allowedBytes(filesRoot, call)) return `${part}.`
  const isOfRule = call.maxBytes !== undefined && call.maxBytes <= maxBytesOfRead(filesRoot, call)
  return `${part}, or have the owner raise ${isOfRule ? 'the size limit of the rule' : 'limits.read'}.`
}

function readSome(descriptor: number, offset: number, length: number, call: FilesCall): Promise<Buffer> | Buffer {
  if (length > SMALL_BYTES) return readPiece(descriptor, offset, length, call.signal())
  const content = Buffer.allocUnsafeSlow(length)
  return content.subarray(0, readNow(descriptor, content, length, offset))
}

const HEAD_BYTES = 8_192
const WINDOW_BYTES = 65_536

/** Decodes a whole file by its byte order mark, as UTF-8 if there is none; refuses what is not text. */
export function decodeFile(bytes: Buffer, path: string): { text: string; encoding: Encoding } {
  const encoding = encodingOf(bytes)
  if (encoding === 'utf-8') return { text: decodeUtf8(bytes, path), encoding }
  if (encoding === 'utf-8-bom') return { text: decodeUtf8(bytes.subarray(3), path, 3), encoding }
  return { text: decodeUtf16(bytes.subarray(2), encoding, path), encoding }
}

/** The encoding according to the byte order mark of a file. */
export function encodingOf(bytes: Buffer): Encoding {
  // No mark begins with ASCII, as most files do.
  const { encoding } = (bytes[0]! > 0x7f && byteOrderMark(bytes)) || {}
  if (encoding === undefined) return 'utf-8'
  return encoding === 'utf-8' ? 'utf-8-bom' : encoding
}

/** Whether a file that begins like this is probably not text. */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, HEAD_BYTES).includes(0)
}

/** Decodes UTF-8 at `position` of a file. */
export function decodeUtf8(bytes: Buffer, path: string, position = 0): string {
  // Most text is ASCII, which is copied three times faster than UTF-8 is decoded.
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw notText(`no valid UTF-8 at byte ${position + firstInvalid(bytes)}`, looksBinary(bytes), path)
}

function decodeUtf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be', path: string): string {
  if (bytes.length % 2 !== 0) throw notText(`half a character of UTF-16 at byte ${bytes.length + 1}`, false, path)
  const text = (encoding === 'utf-16le' ? bytes : Buffer.from(bytes).swap16()).toString('utf16le')
  const lone = text.search(LONE_SURROGATE)
  if (lone === -1) return text
  throw notText(`no valid UTF-16 at byte ${2 + lone * 2}`, false, path)
}

/** The error for a file, or a part of one, that is not text. */
export function notText(what: string, isBinary: boolean, path: string): ToolError {
  const looks = isBinary ? '; it looks binary (it has NUL bytes)' : ''
  return new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is not text: ${what}${looks}.`, {
    hint: isBinary
      ? 'Use a tool for that kind of file, or read its bytes.'
      : 'It is in another encoding than UTF-8 or UTF-16 with a mark, or damaged; read its bytes.',
  })
}

/** The position of the first invalid UTF-8 sequence; called only if there is one. */
function firstInvalid(bytes: Buffer): number {
  let start = 0
  for (;;) {
    const end = characterStart(bytes, start + WINDOW_BYTES)
    if (!isUtf8(bytes.subarray(start, end))) break
    start = end
  }
  for (;;) {
    const length = sequenceLength(bytes[start]!)
    if (!isUtf8(bytes.subarray(start, start + length))) return start
    start += length
  }
}

/** The beginning of the character at `place`: a window must not split a character. */
function characterStart(bytes: Buffer, place: number): number {
  // At the end, no byte can continue a character.
  let start = Math.min(place, bytes.length)
  while (start > place - 3 && (bytes[start]! & 0xc0) === 0x80) start -= 1
  return start
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

// Without O_NONBLOCK a pipe with no writer would hang the process.
const READ = constants.O_RDONLY | constants.O_NONBLOCK

/** A regular file that is open for reading and that the call may read. The receiver closes its descriptor. */
export interface OpenFile {
  readonly descriptor: number
  readonly target: FileTarget
  /** Bytes when it was opened; nothing beyond them is read, however the file grows meanwhile. */
  readonly size: number
}

const FILE_TOO_LARGE_FOR_RULE =
  'Parts of it cannot be read either. Use a smaller file, or have the owner raise the file size of the rule.'

/** Opens a regular file for a call; the checks run on the target that was opened, before anything is read. */
export function openFile(filesRoot: FilesRoot, call: FilesCall, path: string): OpenFile {
  const { descriptor, target } = followLinks(filesRoot.roots, path, open)
  try {
    filesRoot.pass(target, 'read', call)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || target.saysFolder) throw notAFile(stats, target)
    const file = { descriptor, target, size: stats.size }
    if (call.maxFileBytes !== undefined) refuseLarger(file, call.maxFileBytes, FILE_TOO_LARGE_FOR_RULE)
    return file
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function open(target: FileTarget): { descriptor: number; target: FileTarget } | LinkTarget {
  const opened = inParent(target, (parent, name) => {
    try {
      return { descriptor: openAt(parent, name, READ), target }
    } catch (error) {
      const link = errnoOf(error) === 'ELOOP' ? lastLink(target, parent, name) : undefined
      if (link) return link
      throw error
    }
  })
  if (opened) return opened
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

function notAFile(stats: Stats, { path }: FileTarget): ToolError {
  const shown = quotePath(path)
  if (stats.isDirectory()) {
    return new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a folder, not a file.`, {
      hint: 'List the folder instead of reading it, then read one of its files.',
    })
  }
  if (!stats.isFile()) return new ToolError('PATH_DENIED', `${shown} is a pipe or a device, not a regular file.`)
  return new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a file, but the path is spelled like a folder.`, {
    hint: 'Leave out the slash at the end.',
  })
}

/**
 * Up to here a file is read by one synchronous call, the measured exception to the rule that data is read asynchronously:
 * from the page cache it takes 3 µs for 10 KB and 5 µs for 64 KB, over the thread pool 17 and 22 µs.
 */
export const SMALL_BYTES = 65_536

/** Bytes that are read at a time; between two pieces other work gets its turn and a stopped call ends. */
export const CHUNK_BYTES = 524_288

const scratch = Buffer.allocUnsafeSlow(SMALL_BYTES)

/** The content of a small file, read synchronously. The next small read reuses the buffer: do not keep it, and do not await before its last use. */
export function readSmall({ descriptor, size }: OpenFile): Buffer {
  return scratch.subarray(0, readNow(descriptor, scratch, size, 0))
}

/** Fills the first `length` bytes of `into` from a position in the file, synchronously; returns how many bytes there were. */
export function readNow(descriptor: number, into: Buffer, length: number, position: number): number {
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, into, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** The bytes of a part of a file, as far as it exists; `use` gets each piece while the next one is being read. */
export async function readPiece(
  descriptor: number,
  position: number,
  length: number,
  signal: AbortSignal,
  use?: (piece: Buffer) => void,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  const pieceAt = (offset: number) => bytes.subarray(offset, offset + CHUNK_BYTES)
  let filled = 0
  let reading = fill(descriptor, pieceAt(0), position)
  try {
    for (;;) {
      const piece = pieceAt(filled)
      const count = await reading
      throwIfAborted(signal)
      filled += count
      const isLast = count < piece.length || filled === length
      if (!isLast) reading = fill(descriptor, pieceAt(filled), position + filled)
      use?.(piece.subarray(0, count))
      if (isLast) return bytes.subarray(0, filled)
    }
  } finally {
    // The caller closes the descriptor next, so no read may be under way.
    await reading.catch(() => 0)
  }
}

/**
 * Passes a whole file to `use`, one piece after another; each piece is valid until `use` returns. The next one is read
 * meanwhile. Returns how many bytes there were.
 */
export async function readFileChunks(
  file: OpenFile,
  signal: AbortSignal,
  use: (chunk: Buffer, position: number) => void,
) {
  const { descriptor, size } = file
  const next = (into: Buffer, position: number) =>
    fill(descriptor, into.subarray(0, Math.min(CHUNK_BYTES, size - position)), position)

  let buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size))
  let spare = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(0, size - CHUNK_BYTES)))
  let position = 0
  let reading = next(buffer, 0)
  try {
    while (position < size) {
      const count = await reading
      throwIfAborted(signal)
      if (count === 0) break
      const chunk = buffer.subarray(0, count)
      ;[buffer, spare] = [spare, buffer]
      reading = next(buffer, position + count)
      use(chunk, position)
      position += count
    }
  } finally {
    // The caller closes the descriptor next, so no read may be under way; its failure was thrown above or does not matter.
    await reading.catch(() => 0)
  }
  return position
}

/** Fills `into` as far as the file goes. */
async function fill(descriptor: number, into: Buffer, position: number): Promise<number> {
  let filled = 0
  while (filled < into.length) {
    const count = await readOnce(descriptor, into, filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** The callback form: `fs/promises` would need a FileHandle, and the walk opens plain descriptors. */
function readOnce(descriptor: number, into: Buffer, offset: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, into, offset, into.length - offset, position, (error, count) =>
      error ? reject(error) : resolve(count),
    )
  })
}

/** Hashing and counting lines read the whole file; a larger one would take too long. */
export const MAX_SCAN_BYTES = 4 * 2 ** 30

/** Throws FILE_TOO_LARGE if a file is over a limit. `allowed` is the most that the caller could have requested. */
export function refuseLarger(
  { size, target: { path } }: OpenFile,
  limit: number,
  hint: string,
  allowed: number = limit,
): void {
  if (size <= limit) return
  throw new ToolError('FILE_TOO_LARGE', `${quotePath(path)} has ${size} bytes, the limit is ${limit}.`, {
    hint,
    details: { size, limit, allowed, path },
  })
}

/** A whole number from the caller, or the fallback if it is missing. */
export function checkCount(name: string, value: number | undefined, fallback: number, least = 0): number {
  if (value === undefined) return fallback
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new ToolError('INPUT_SCHEMA_INVALID', `${name} is a whole number from ${least} on, not ${String(value)}.`, {
    fix: { key: name, hint: `Give ${name} as a whole number from ${least} on, or leave it out.` },
  })
}

/** A file became shorter while it was read, so earlier counts are wrong. */
export function changedMeanwhile({ target }: OpenFile): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} became shorter while it was read.`, {
    hint: 'Read it again.',
    retryable: true,
  })
}
