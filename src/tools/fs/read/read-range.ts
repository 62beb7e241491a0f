import { type Context, ToolError } from '../../../core/index.ts'
import { quote } from '../quote.ts'
import type { ReadResult } from './read-result.ts'
import { textEvidence } from './text-evidence.ts'

/** What fits into the text that a model gets of one call, with a note. */
export const RANGE_BYTES = 25_600

/** Reads bytes from the middle of a file as text; characters that are cut at the ends of the range are left to its neighbours. */
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

/** Without the rest of a character that began before, and without the beginning of one that continues after. */
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
