import { type Context, ToolError } from '@tool-hub/core'
import { quote } from '../file-arguments.ts'
import { type ReadResult, textEvidence } from './read-result.ts'

const MAX_BYTES = 5_242_880

/** Which part of the text to return; the whole by default. */
interface DecodedOptions {
  readonly encoding: string
  readonly maxBytes?: number
  readonly offset?: number
  readonly limit?: number
  readonly maxChars?: number
}

/** Reads a text file of an encoding that its bytes do not show, such as GBK. It is decoded as a whole. */
export async function readDecoded(path: string, options: DecodedOptions, ctx: Context<'read:fs'>): Promise<ReadResult> {
  const decoder = decoderOf(options.encoding)
  const { offset, limit, maxChars } = options
  const isWhole = offset === undefined && limit === undefined && maxChars === undefined
  const { content, bytes } = await ctx.fs.readBytes(path, { maxBytes: isWhole ? options.maxBytes : MAX_BYTES })
  if (bytes > content.length)
    throw new ToolError('FILE_TOO_LARGE', `${quote(path)} has ${bytes} bytes; ${content.length} can be decoded.`, {
      hint: 'Search in it, or make a copy in UTF-8 and read that.',
      details: { bytes, limit: content.length },
    })
  const whole = decode(decoder, content, path)
  const { encoding } = decoder
  const shown = isWhole ? { text: whole } : pageOf(whole, { offset, limit, maxChars })
  ctx.evidence(textEvidence(path, shown.text, `${bytes} bytes, ${encoding}`))
  return { path, ...shown, bytes, ...(encoding !== 'utf-8' && { encoding }) }
}

type Decoder = InstanceType<typeof TextDecoder>

function decoderOf(label: string): Decoder {
  try {
    return new TextDecoder(label, { fatal: true })
  } catch (cause) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `Unknown encoding ${quote(label)}.`, {
      fix: { key: 'encoding', hint: 'Use a name such as gbk, gb18030, big5, shift_jis, euc-kr or windows-1252.' },
      cause,
    })
  }
}

function decode(decoder: Decoder, content: Uint8Array, path: string): string {
  try {
    return decoder.decode(content)
  } catch (cause) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quote(path)} is not a text in ${decoder.encoding}.`, {
      fix: { key: 'encoding', hint: 'Try another encoding, or leave it out for UTF-8 and UTF-16.' },
      cause,
    })
  }
}

/** Whole lines from `offset` on, at least one if there is one. */
function pageOf(
  text: string,
  {
    offset: from = 1,
    limit = Number.MAX_SAFE_INTEGER,
    maxChars = Number.MAX_SAFE_INTEGER,
  }: Omit<DecodedOptions, 'encoding'>,
): Pick<ReadResult, 'text' | 'page'> {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const taken: string[] = []
  let chars = 0
  for (const line of lines.slice(from - 1, from - 1 + limit)) {
    chars += line.length + 1
    if (chars > maxChars && taken.length > 0) break
    taken.push(line)
  }
  const to = from + taken.length - 1
  const next = to < lines.length && { next: to + 1 }
  return { text: taken.join('\n'), page: { from, to, totalLines: lines.length, ...next } }
}
