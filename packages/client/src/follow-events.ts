import { ApiError } from './http-requests.ts'

/** One server-sent event. */
export interface SseEvent {
  readonly type: string
  readonly data: string
  readonly id: string | undefined
}

const MAX_CHARS = 32 * 1_048_576

/** Reads the server-sent events of a response. */
export async function* readSse(response: Response): AsyncGenerator<SseEvent, void, undefined> {
  if (!response.body) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const text = rest + decoder.decode(value, { stream: true })
      const blocks = text.split(/\r?\n\r?\n/)
      rest = blocks.pop()!
      if (rest.length > MAX_CHARS) throw new ApiError('UPSTREAM_ERROR', `An event has over ${MAX_CHARS} characters.`)
      for (const block of blocks) {
        const event = readBlock(block)
        if (event) yield event
      }
    }
  } finally {
    // The caller has stopped reading; the stream may already be closed.
    await reader.cancel().catch(() => {})
  }
}

function readBlock(block: string): SseEvent | undefined {
  let type = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') type = value
    if (field === 'id') id = value
    if (field === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { type, id, data: data.join('\n') }
}

const FIRST_MS = 250
const MAX_MS = 15_000

/** Returns the delay before the next attempt: exponential, with jitter. */
export function reconnectDelayMs(attempt: number): number {
  const ms = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(attempt, 10))
  return ms / 2 + (Math.random() * ms) / 2
}
