import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { OutputFile } from '../../packages/sandbox/src/exec/command-call.ts'

/** A file on disk that takes output as the records do. */
export function outputFile(path: string): OutputFile {
  const stream = createWriteStream(path)
  const flushed = () => new Promise<void>((resolve) => stream.write('', () => resolve()))
  return {
    write(bytes) {
      return stream.write(bytes) ? undefined : once(stream, 'drain').then(() => undefined)
    },
    async read(offset, length) {
      if (!stream.writableFinished) await flushed()
      const file = await open(path)
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
        return buffer.subarray(0, bytesRead)
      } finally {
        await file.close()
      }
    },
    async finish({ name, mediaType }) {
      stream.end()
      await once(stream, 'finish')
      const hash = createHash('sha256')
      await pipeline(createReadStream(path), hash)
      const sha256 = hash.digest('hex')
      return { ref: `artifact:${sha256}`, name, bytes: (await stat(path)).size, sha256, mediaType }
    },
    async discard() {
      // It may still be about to be opened, which would make the file anew. A write under way ends with an error then.
      const closed = new Promise<void>((resolve) => stream.on('error', () => {}).once('close', resolve))
      stream.destroy()
      await closed
      await rm(path, { force: true })
    },
  }
}
