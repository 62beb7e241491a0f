import type { Readable, Writable } from 'node:stream'
import type { ConnectOverCDPTransport } from 'playwright-core'

/** A response may hold a long snapshot or a screenshot; a larger one is treated as an attempt to exhaust memory. */
const MAX_MESSAGE_BYTES = 128_000_000
/** Playwright keeps thousands of events with text from the page, so long strings in them are cut. */
const MAX_EVENT_CHARS = 8_000
const ENDS_BYTES = 200

/** Speaks the DevTools protocol over pipes: JSON messages, each ended by NUL. */
export function pipeTransport(
  { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
  stop: () => void,
  maxBytes = MAX_MESSAGE_BYTES,
): ConnectOverCDPTransport {
  let parts: Buffer[] = []
  let bytes = 0
  let isClosed = false
  const transport: ConnectOverCDPTransport = {
    send: (words) => void (isClosed || stdin.write(`${JSON.stringify(words)}\0`)),
    close: stop,
  }
  const keep = (chunk: Buffer) => {
    bytes += chunk.length
    parts.push(chunk)
    if (bytes <= maxBytes) return
    // The two ends of a message that is too long show which request it answers.
    const all = Buffer.concat(parts)
    parts = [Buffer.concat([all.subarray(0, ENDS_BYTES), all.subarray(-ENDS_BYTES)])]
  }
  const take = (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
      keep(chunk.subarray(from, end))
      const message = bytes > maxBytes ? refusal(parts[0]!, maxBytes) : parse(Buffer.concat(parts))
      parts = []
      bytes = 0
      from = end + 1
      // Anything but an object is dropped; Playwright validates the rest.
      if (typeof message === 'object' && message !== null) transport.onmessage?.(message)
    }
    if (from < chunk.length) keep(chunk.subarray(from))
  }
  const end = () => {
    if (isClosed) return
    isClosed = true
    transport.onclose?.('The browser has ended.')
  }
  stdout.on('data', take).once('end', end).once('close', end)
  return transport
}

/** One page must not break the browser for all: an oversized response becomes an error, an oversized event is dropped. */
function refusal(ends: Buffer, maxBytes: number): object | undefined {
  const text = ends.toString('latin1')
  const id = /^\{"id":(\d{1,15}),/.exec(text)?.[1]
  if (id === undefined) return undefined
  const sessionId = /"sessionId":"(\w{1,100})"\}$/.exec(text)?.[1]
  const error = { code: -32_000, message: `The answer is over ${maxBytes} bytes.` }
  return { id: Number(id), error, ...(sessionId !== undefined && { sessionId }) }
}

function parse(bytes: Buffer): unknown {
  const isLongEvent = bytes.length > MAX_EVENT_CHARS && bytes.toString('latin1', 0, 10) === '{"method":'
  try {
    return JSON.parse(bytes.toString(), isLongEvent ? (_, value) => shortened(value) : undefined)
  } catch {
    // Chromium writes valid JSON only; a request whose response is broken times out.
    return undefined
  }
}

/** Copies the kept part: a slice would keep the whole string in memory. */
function shortened(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_EVENT_CHARS) return value
  return Buffer.from(value.slice(0, MAX_EVENT_CHARS), 'utf16le').toString('utf16le')
}
