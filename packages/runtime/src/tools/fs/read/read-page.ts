import { type Context, ToolError } from '@tool-hub/core'
import { GIF } from 'image-size/types/gif'
import { JPG } from 'image-size/types/jpg'
import { PNG } from 'image-size/types/png'
import { WEBP } from 'image-size/types/webp'
import { quote } from '../file-arguments.ts'
import type { ReadResult } from './read-result.ts'
import { RANGE_BYTES, textEvidence } from './read-result.ts'

/** Bytes at the beginning of a file that identify the type of image. */
const IMAGE_MARK_BYTES = 16

/** The size is near the beginning; reading further would only give a hostile file time. */
const HEAD_BYTES = 524_288

const READERS = { 'image/png': PNG, 'image/jpeg': JPG, 'image/gif': GIF, 'image/webp': WEBP }

const MAX_BYTES = 5_242_880

/** Which lines to read, and whether an image is allowed. */
interface PageOptions {
  readonly offset?: number
  readonly limit?: number
  readonly maxBytes?: number
  readonly maxChars?: number
  readonly images?: boolean
}

const PAGE_BYTES = 5_242_880

/** Reads whole lines of a file of any size. */
export async function readFilePage(path: string, options: PageOptions, ctx: Context<'read:fs'>): Promise<ReadResult> {
  const { offset = 1, limit, maxBytes = PAGE_BYTES, maxChars, images = false } = options
  const head = await readHead(path, ctx)
  if (images && imageType(head)) return readImage(path, ctx)

  const found = await ctx.fs.readLines(path, { offset, limit, maxBytes, maxChars })
  const { text, from, to, totalLines, bytes, tooLong } = found
  ctx.evidence(textEvidence(path, text, `lines ${from}-${to} of ${totalLines}, ${bytes} bytes in all`))
  const page = {
    from,
    to,
    totalLines,
    ...(to < totalLines && { next: to + 1 }),
    ...(tooLong && { tooLong: { line: tooLong.line, byteOffset: tooLong.offset, bytes: tooLong.bytes } }),
  }
  return { path, text, bytes, ...encodingOf(head), page }
}

async function readHead(path: string, ctx: Context<'read:fs'>): Promise<Buffer> {
  const { content } = await ctx.fs.readBytes(path, { maxBytes: IMAGE_MARK_BYTES })
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength)
}

/** By the byte order mark at the beginning of the file, which a page does not contain. */
function encodingOf(head: Buffer): Pick<ReadResult, 'encoding'> {
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le' }
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be' }
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? { encoding: 'utf-8-bom' } : {}
}

/** Reads a file that begins like an image. */
async function readImage(path: string, ctx: Context<'read:fs'>): Promise<ReadResult> {
  const { content, bytes } = await ctx.fs.readBytes(path, { maxBytes: MAX_BYTES })
  if (bytes > content.length) {
    throw new ToolError(
      'FILE_TOO_LARGE',
      `The image ${quote(path)} has ${bytes} bytes, ${content.length} can be shown.`,
      {
        hint: 'Make a smaller copy of it and read that.',
        details: { bytes, limit: content.length },
      },
    )
  }
  const data = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const facts = describeImage(data)
  if (!facts) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `${quote(path)} begins like an image but is damaged (${bytes} bytes).`,
      {
        hint: 'Get the image again; it cannot be shown like this.',
      },
    )
  }
  const { mediaType, width, height } = facts
  ctx.evidence({ type: 'file', ref: path, summary: `${mediaType}, ${width} x ${height} pixels, ${bytes} bytes` })
  return { path, text: '', bytes, image: { mediaType, width, height, data: data.toString('base64') } }
}

/** An image that models can look at. */
interface ImageFacts {
  readonly mediaType: MediaType
  /** Pixels. */
  readonly width: number
  readonly height: number
}

type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** The type of image by its first bytes, not by its name; `undefined` for anything else. */
export function imageType(head: Buffer): MediaType | undefined {
  const text = head.toString('latin1', 0, IMAGE_MARK_BYTES)
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif'
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined
}

/** Type and size of an image; `undefined` if it is damaged or not an image. */
export function describeImage(content: Buffer): ImageFacts | undefined {
  const mediaType = imageType(content)
  if (!mediaType) return undefined
  const head = content.subarray(0, HEAD_BYTES)
  try {
    const reader = READERS[mediaType]
    if (!reader.validate(head)) return undefined
    const { width, height } = reader.calculate(head)
    return width > 0 && height > 0 ? { mediaType, width, height } : undefined
  } catch {
    // The reader throws various errors for truncated files; all of them mean damaged.
    return undefined
  }
}

/** Reads bytes from the middle of a file as text; characters cut at the ends of the range belong to its neighbours. */
export async function readRange(
  path: string,
  { byteOffset = 0, byteLimit = RANGE_BYTES }: { readonly byteOffset?: number; readonly byteLimit?: number },
  ctx: Context<'read:fs'>,
): Promise<ReadResult> {
  const { content, bytes } = await ctx.fs.readBytes(path, { offset: byteOffset, maxBytes: byteLimit })
  const part = wholeCharacters(content, byteOffset, byteOffset + content.length < bytes)
  if (part.content.includes(0)) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `${quote(path)} is binary: it has NUL bytes from byte ${byteOffset} on.`,
      {
        hint: 'Use a tool for that kind of file.',
      },
    )
  }
  const end = part.byteOffset + part.content.length
  const text = part.content.toString('utf8')
  ctx.evidence(textEvidence(path, text, `bytes ${part.byteOffset}-${end} of ${bytes}`))
  const range = { byteOffset: part.byteOffset, bytes: part.content.length, ...(end < bytes && { next: end }) }
  return { path, text, bytes, range }
}

/** Without a partial character at either end. */
function wholeCharacters(
  bytes: Uint8Array,
  byteOffset: number,
  goesOn: boolean,
): { content: Buffer; byteOffset: number } {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let start = 0
  while (byteOffset > 0 && start < 3 && isInside(content[start])) start++
  let end = content.length
  if (goesOn) {
    let last = end - 1
    while (last > end - 4 && isInside(content[last])) last--
    if (last >= start && last + characterBytes(content[last]!) > end) end = last
  }
  return { content: content.subarray(start, end), byteOffset: byteOffset + start }
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function characterBytes(first: number): number {
  if (first < 0xc0) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
