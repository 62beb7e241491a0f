import { closeSync, fstatSync, readSync } from 'node:fs'
import { byteOrderMark } from '../../../../value/byte-order-mark.ts'
import { decodeUtf16 } from '../decode-utf16.ts'

const MAX_UTF16_BYTES = 50_000_000

/** An open file against which is checked what ripgrep says of it. */
export interface CheckedFile {
  /** Whether these bytes stand at this place of the text. */
  holds(offset: number, bytes: Buffer): boolean
  close(): void
}

/** Takes over a descriptor; undefined when it is no file whose text can be checked. */
export function checkedFile(descriptor: number): CheckedFile | undefined {
  try {
    const reader = holder(descriptor)
    if (reader) return { holds: reader, close: () => closeSync(descriptor) }
  } catch {
    // What cannot be read cannot be checked.
  }
  closeSync(descriptor)
  return undefined
}

function holder(descriptor: number): CheckedFile['holds'] | undefined {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) return undefined
  const mark = byteOrderMark(readAt(descriptor, 0, 3))
  if (!mark) return (offset, bytes) => readAt(descriptor, offset, bytes.length).equals(bytes)
  if (mark.encoding === 'utf-8') return (offset, bytes) => readAt(descriptor, offset + 3, bytes.length).equals(bytes)
  if (stats.size > MAX_UTF16_BYTES) return undefined
  // ripgrep counts in the UTF-8 that it makes of such a file.
  const text = Buffer.from(decodeUtf16(readAt(descriptor, 2, stats.size), mark.encoding))
  return (offset, bytes) => text.subarray(offset, offset + bytes.length).equals(bytes)
}

/** The bytes at a place, fewer at the end of the file. */
function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}
