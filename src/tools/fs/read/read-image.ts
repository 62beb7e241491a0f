import type { Context } from '../../../define.ts'
import { ToolError } from '../../../errors.ts'
import { quote } from '../quote.ts'
import { describeImage } from './describe-image.ts'
import type { ReadResult } from './read-result.ts'

const MOST_BYTES = 5_242_880

/** Reads a file that begins like an image. */
export async function readImage(path: string, ctx: Context<'read:fs'>): Promise<ReadResult> {
  const { content, bytes } = await ctx.fs.readBytes(path, { maxBytes: MOST_BYTES })
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
