import * as fs from 'node:fs'
import { promisify } from 'node:util'
import { type ChainLink, inspectLine } from './event-line.ts'
import { LineCutter } from './lines.ts'

const CHUNK_BYTES = 256 * 1024

const read = promisify(fs.read)
const write = promisify(fs.write)

/**
 * Writes a part of a record to its place once more, so that the next sync stores it again. Returns false if that part does
 * not consist of whole lines that follow each other as they were written: then something is lost.
 */
export async function rewriteLines(
  fd: number,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<boolean> {
  const cutter = new LineCutter(start)
  let last: ChainLink | undefined
  for (let position = start; position < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position))
    const { bytesRead } = await read(fd, chunk, 0, chunk.length, position)
    if (bytesRead === 0) return false
    const bytes = chunk.subarray(0, bytesRead)
    for (const line of cutter.cut(bytes)) {
      const facts = inspectLine(line.bytes)
      if (!facts?.intact) return false
      if (last && (facts.seq !== last.seq + 1 || facts.prev !== last.hash)) return false
      last = facts
    }
    await writeAll(fd, bytes, position)
    position += bytesRead
  }
  return cutter.rest.length === 0
}

async function writeAll(fd: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await write(fd, bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw new Error('The disk took nothing.')
    done += bytesWritten
  }
}
