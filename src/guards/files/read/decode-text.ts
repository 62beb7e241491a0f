import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import { byteOrderMark } from '../../../value/byte-order-mark.ts'
import { LONE_SURROGATE } from '../../../value/lone-surrogate.ts'
import { quotePath } from '../quote-path.ts'

const HEAD_BYTES = 8_192
const WINDOW_BYTES = 65_536

/** Decodes a whole file by the mark at its beginning, UTF-8 when there is none; refuses what is no text. */
export function decodeText(bytes: Buffer, path: string): { text: string; encoding: Encoding } {
  const encoding = encodingOf(bytes)
  if (encoding === 'utf-8') return { text: decodeUtf8(bytes, path), encoding }
  if (encoding === 'utf-8-bom') return { text: decodeUtf8(bytes.subarray(3), path, 3), encoding }
  return { text: decodeUtf16(bytes.subarray(2), encoding, path), encoding }
}

/** What the mark at the beginning of a file says. */
export function encodingOf(bytes: Buffer): Encoding {
  const { encoding } = byteOrderMark(bytes) ?? {}
  if (encoding === undefined) return 'utf-8'
  return encoding === 'utf-8' ? 'utf-8-bom' : encoding
}

/** Whether a file that begins like this is likely no text. */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, HEAD_BYTES).includes(0)
}

/** Decodes UTF-8 that stands at `position` of a file. */
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

/** Refuses a file, or a part of one, that is no text. */
export function notText(what: string, isBinary: boolean, path: string): ToolError {
  const looks = isBinary ? '; it looks binary (it has NUL bytes)' : ''
  return new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is not text: ${what}${looks}.`, {
    hint: isBinary
      ? 'Use a tool for that kind of file, or read its bytes.'
      : 'It is in another encoding than UTF-8 or UTF-16 with a mark, or damaged; read its bytes.',
  })
}

/** Where the first sequence starts that is no UTF-8; only asked when there is one. */
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

/** The beginning of the character that stands at `place`: a window must not cut one in two. */
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
