import { isAscii, isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { type Encoding, type FileBytes, type FileText, ToolError } from '../../../core/index.ts'
import { byteOrderMark, LONE_SURROGATE, noteTextHash, sha256 } from '../../../lib/index.ts'
import { quotePath } from '../file-error.ts'
import type { FilesCall, FilesRoot } from '../files-root.ts'
import {
  checkCount,
  MAX_SCAN_BYTES,
  type OpenFile,
  openFile,
  readFileChunks,
  readNow,
  readPiece,
  refuseLarger,
  SMALL_BYTES,
  withSmallFile,
} from './open-file.ts'

/** Reads a whole file as the text it held when it was opened. */
export async function readFile(
  filesRoot: FilesRoot,
  call: FilesCall,
  path: string,
  maxBytes?: number,
): Promise<FileText> {
  const file = openFile(filesRoot, call, path)
  try {
    refuseLarger(
      file,
      maxBytesOfRead(filesRoot, call, maxBytes),
      tooLargeHint(filesRoot, call, maxBytes),
      allowedBytes(filesRoot, call),
    )
    const { path: realPath } = file.target
    const read =
      file.size <= SMALL_BYTES
        ? withSmallFile(file, (content) => toFileText(realPath, content, sha256(content)))
        : await readLarge(file, call)
    if (read.encoding === 'utf-8') noteTextHash(read.text, read.sha256)
    call.seen?.set(realPath, read.sha256)
    return read
  } finally {
    closeSync(file.descriptor)
  }
}

function toFileText(path: string, content: Buffer, hash: string): FileText {
  const { text, encoding } = decodeFile(content, path)
  return { path, text, bytes: content.length, sha256: hash, encoding }
}

/** Hashes each piece while the next one is being read. */
async function readLarge({ descriptor, size, target }: OpenFile, call: FilesCall): Promise<FileText> {
  const hash = createHash('sha256')
  const content = await readPiece(descriptor, 0, size, call.signal(), (piece) => hash.update(piece))
  return toFileText(target.path, content, hash.digest('hex'))
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
    return withSmallFile(file, (content) => ({ sha256: sha256(content), bytes: content.length }))
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
  const { encoding } = byteOrderMark(bytes) ?? {}
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
  // At the end there is no byte that could continue a character.
  let start = Math.min(place, bytes.length)
  while (start > place - 3 && (bytes[start]! & 0xc0) === 0x80) start -= 1
  return start
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}
