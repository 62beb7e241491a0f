import type { Context } from '../../../define.ts'
import { IMAGE_MARK_BYTES, imageType } from './describe-image.ts'
import { readImage } from './read-image.ts'
import type { ReadResult } from './read-result.ts'
import { textEvidence } from './text-evidence.ts'

/** Which lines are wanted, and whether an image is welcome, too. */
interface PageOptions {
  readonly offset?: number
  readonly limit?: number
  readonly maxBytes?: number
  readonly images?: boolean
}

const PAGE_BYTES = 5_242_880

/** Reads whole lines of a file of any size. */
export async function readPage(path: string, options: PageOptions, ctx: Context<'read:fs'>): Promise<ReadResult> {
  const { offset = 1, limit, maxBytes = PAGE_BYTES, images = false } = options
  const head = await readHead(path, ctx)
  if (images && imageType(head)) return readImage(path, ctx)

  const found = await ctx.fs.readLines(path, { offset, limit, maxBytes })
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

/** By the mark at the beginning of the file; a page does not tell. */
function encodingOf(head: Buffer): Pick<ReadResult, 'encoding'> {
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le' }
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be' }
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? { encoding: 'utf-8-bom' } : {}
}
