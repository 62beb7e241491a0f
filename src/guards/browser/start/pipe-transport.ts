import type { Readable, Writable } from 'node:stream'
import type { ConnectOverCDPTransport } from 'playwright-core'

/** One message may be a long snapshot; more than this is a page that wants our memory. */
const MOST_MESSAGE_BYTES = 256_000_000

/** Speaks the DevTools protocol over pipes: JSON messages, each ended by NUL. */
export function pipeTransport(
  { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
  stop: () => void,
): ConnectOverCDPTransport {
  let parts: Buffer[] = []
  let bytes = 0
  let isClosed = false
  const transport: ConnectOverCDPTransport = {
    send: (words) => void (isClosed || stdin.write(`${JSON.stringify(words)}\0`)),
    close: stop,
  }
  const take = (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
      const whole = Buffer.concat([...parts, chunk.subarray(from, end)])
      parts = []
      bytes = 0
      from = end + 1
      hear(transport, whole)
    }
    if (from === chunk.length) return
    parts.push(chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > MOST_MESSAGE_BYTES) stop()
  }
  const end = () => {
    if (isClosed) return
    isClosed = true
    transport.onclose?.('The browser has ended.')
  }
  stdout.on('data', take).once('end', end).once('close', end)
  return transport
}

/** What is no message, nobody can answer. What a message says, playwright checks. */
function hear(transport: ConnectOverCDPTransport, bytes: Buffer): void {
  const words = parse(bytes)
  if (typeof words === 'object' && words !== null) transport.onmessage?.(words)
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    // Chromium writes JSON only; a broken line is told by what then does not come.
    return undefined
  }
}
