import { ToolError } from '../../errors.ts'

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** An answer whose body breaks off when it, or one event of a stream of events, becomes too long. */
export function boundResponse(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response
  if (!body) return response
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false
  const bounded = body.pipeThrough(isStream ? boundEvents(maxBytes) : boundWhole(maxBytes))
  return new Response(bounded, { status, statusText, headers })
}

function boundWhole(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      controller.enqueue(chunk)
    },
  })
}

/** An empty line ends an event; a line ends with CR, LF or both. */
function boundEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let before = LINE_FEED
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        const isSecondHalf = byte === LINE_FEED && before === CARRIAGE_RETURN
        const isEmptyLine = !isSecondHalf && isBreak(byte) && isBreak(before)
        bytes = isEmptyLine ? 0 : bytes + 1
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        if (!isSecondHalf) before = byte
      }
      controller.enqueue(chunk)
    },
  })
}

function isBreak(byte: number): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError(
    'HTTP_TOO_LARGE',
    `An answer has more than ${maxBytes} bytes, which is the limit of a message.`,
    {
      hint: 'Ask the server for less at once.',
    },
  )
}
