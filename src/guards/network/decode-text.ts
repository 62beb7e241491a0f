import { TextDecoder } from 'node:util'

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i

/** Text in the charset that the content type names; UTF-8 when it names none, or one that nobody knows. */
export function decodeText(bytes: Uint8Array, contentType = ''): string {
  const charset = CHARSET.exec(contentType)?.[1] ?? 'utf-8'
  return (decoderOf(charset) ?? new TextDecoder()).decode(bytes)
}

function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset)
  } catch {
    // A server's typing mistake; the replacement characters of UTF-8 say more than an error would.
    return undefined
  }
}
