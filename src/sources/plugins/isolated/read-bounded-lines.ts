import type { Readable } from 'node:stream'

/** Calls for every whole line of a stream; one that grows over the limit ends it with `onTooLong`. */
export function readBoundedLines(
  stream: Readable,
  maxBytes: number,
  { onLine, onTooLong }: { readonly onLine: (line: string) => void; readonly onTooLong: () => void },
): void {
  let pieces: Buffer[] = []
  let bytes = 0
  const take = (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end))
      const line = Buffer.concat(pieces).toString('utf8')
      pieces = []
      bytes = 0
      start = end + 1
      onLine(line)
    }
    pieces.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes <= maxBytes) return
    stream.off('data', take)
    stream.resume()
    pieces = []
    onTooLong()
  }
  stream.on('data', take)
}
