import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import { byteOrderMark } from '../../../../value/byte-order-mark.ts'
import type { FileAccess } from '../../access/file-access.ts'
import { decodeUtf16 } from '../decode-utf16.ts'

const READ = constants.O_RDONLY | constants.O_NONBLOCK
const MAX_BYTES = 50_000_000

/** The text of a file below an open folder; undefined for a binary one; throws when it cannot be looked into. */
export function readSearchable(access: FileAccess, folder: number, name: string): string | undefined {
  const bytes = readAll(access.open(folder, access.at(folder, name), READ))
  const mark = byteOrderMark(bytes)
  const text =
    mark && mark.encoding !== 'utf-8'
      ? decodeUtf16(bytes.subarray(mark.length), mark.encoding)
      : bytes.toString('utf8', mark?.length ?? 0)
  return text.includes('\0') ? undefined : text
}

function readAll(descriptor: number): Buffer {
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('Not a file, or too large for the built-in search.')
    const bytes = Buffer.allocUnsafe(stats.size)
    let filled = 0
    while (filled < bytes.length) {
      const count = readSync(descriptor, bytes, filled, bytes.length - filled, filled)
      if (count === 0) break
      filled += count
    }
    return bytes.subarray(0, filled)
  } finally {
    closeSync(descriptor)
  }
}
