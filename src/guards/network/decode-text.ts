import { TextDecoder } from 'node:util'
import { byteOrderMark } from '../../value/byte-order-mark.ts'

const CHARSET = /;\s*charset\s*=\s*["']?([^"';\s]+)/i
const META_CHARSET = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i
const META_BYTES = 1024

/** What is known of a text beside its bytes. */
export interface TextFacts {
  readonly contentType?: string
  /** The text was cut at a byte: a character that is not whole at the end is left out. */
  readonly isCut?: boolean
}

/**
 * Text in the charset that its byte order mark says, or the content type, or in HTML a meta tag at its beginning;
 * UTF-8 when none does, or one that nobody knows.
 */
export function decodeText(bytes: Buffer, { contentType = '', isCut = false }: TextFacts = {}): string {
  const charset =
    byteOrderMark(bytes)?.encoding ?? CHARSET.exec(contentType)?.[1] ?? metaCharset(bytes, contentType) ?? 'utf-8'
  if (charset.toLowerCase() === 'utf-8' && !isCut && bytes[0] !== 0xef) return bytes.toString('utf8')
  return (decoderOf(charset) ?? new TextDecoder()).decode(bytes, { stream: isCut })
}

function metaCharset(bytes: Buffer, contentType: string): string | undefined {
  if (!/html/i.test(contentType)) return undefined
  const named = META_CHARSET.exec(bytes.toString('latin1', 0, META_BYTES))?.[1]
  // A tag that could be read as ASCII is not written in UTF-16, whatever it says.
  return named && /utf-?16/i.test(named) ? 'utf-8' : named
}

function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset)
  } catch {
    // A server's typing mistake; the replacement characters of UTF-8 say more than an error would.
    return undefined
  }
}
