import type { Readable } from 'node:stream'

/** Calls for every whole line of a stream of UTF-8; what follows the last newline is dropped. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
}
