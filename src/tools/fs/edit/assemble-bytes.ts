import type { Replacement } from './edit.ts'

/**
 * A text of ASCII after its replacements, as bytes. Each of its characters is a byte, so that what stays is copied and not
 * encoded again, which for a large file takes longer than all the rest of an edit.
 */
export function assembleBytes(ascii: string, replacements: readonly Replacement[]): Buffer {
  let size = ascii.length
  for (const { start, end, text } of replacements) size += Buffer.byteLength(text) - (end - start)
  const bytes = Buffer.allocUnsafeSlow(size)
  let from = 0
  let at = 0
  for (const { start, end, text } of replacements) {
    at += bytes.write(ascii.slice(from, start), at, 'latin1')
    at += bytes.write(text, at, 'utf8')
    from = end
  }
  bytes.write(ascii.slice(from), at, 'latin1')
  return bytes
}
