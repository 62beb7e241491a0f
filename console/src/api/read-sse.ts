/** One event of a server-sent stream. */
interface SseMessage {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

const MAX_MESSAGE_CHARACTERS = 4_000_000

/** Reads the messages of an event stream as they come; comments come as messages without data, as a sign of life. */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseMessage> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value.replaceAll('\r\n', '\n')).split('\n\n')
      rest = blocks.pop() ?? ''
      if (rest.length > MAX_MESSAGE_CHARACTERS)
        throw new Error(`A message has over ${MAX_MESSAGE_CHARACTERS} characters.`)
      for (const block of blocks) yield toMessage(block)
    }
  } finally {
    // The stream may have failed already, which its reader was told.
    await reader.cancel().catch(() => undefined)
  }
}

function toMessage(block: string): SseMessage {
  const lines = block.split('\n')
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''))
  return { id: all('id').at(-1), event: all('event').at(-1) ?? 'message', data: all('data').join('\n') }
}
