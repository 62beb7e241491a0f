import { setMaxListeners } from 'node:events'
import { ToolError } from '../../errors.ts'
import type { Answer } from './exchange.ts'
import { toNetworkError } from './network-error.ts'

// Statuses for which a Response takes no body, not even an empty one.
const BODILESS = new Set([204, 205, 304])
const MOST_STATUS = 599

/** An answer as a standard Response, its body as it comes; the signal ends it at any time. */
export function toWebResponse(answer: Answer, signal: AbortSignal | undefined): Response {
  const { hop, transfer, urls } = answer
  try {
    const hasBody =
      hop.method !== 'HEAD' && !BODILESS.has(transfer.status) && transfer.headers['content-length'] !== '0'
    if (hasBody) refuseEncoded(answer)
    if (transfer.status > MOST_STATUS) throw unreadable(`${hop.url.host} answers with the status ${transfer.status}.`)
    const response = new Response(hasBody ? streamOf(answer, signal) : null, {
      status: transfer.status,
      headers: transfer.headers,
    })
    Object.defineProperties(response, {
      url: { value: hop.url.href },
      redirected: { value: urls.length > 1 },
    })
    return response
  } catch (error) {
    transfer.discard()
    throw error
  }
}

/** Tells when a signal ends, with its very reason; gives back how to end that. */
export function watchSignal(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (!signal) return () => {}
  const forward = () => listener(signal.reason)
  if (signal.aborted) forward()
  // A client has one signal for many requests, and every listener goes when its request ends: no leak to warn of.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', forward)
  return () => signal.removeEventListener('abort', forward)
}

function streamOf({ hop, transfer }: Answer, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const stopWatching = watchSignal(signal, (reason) => transfer.abort(reason))
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await transfer.next()
          // A copy: what undici gives is a part of a larger buffer, which whoever gets it could take away.
          if (!done) return controller.enqueue(new Uint8Array(value))
          stopWatching()
          controller.close()
        } catch (error) {
          stopWatching()
          controller.error(signal?.aborted ? signal.reason : toNetworkError(error, hop.url))
        }
      },
      cancel() {
        stopWatching()
        transfer.discard()
      },
    },
    // Nothing is taken before somebody reads: the server waits instead.
    { highWaterMark: 0 },
  )
}

/** A server that compresses though it was asked not to. */
function refuseEncoded({ hop, transfer }: Answer): void {
  const encoding = transfer.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw unreadable(`${hop.url.host} encodes its answer as ${JSON.stringify(encoding.slice(0, 100))}, unasked.`)
}

function unreadable(message: string): ToolError {
  return new ToolError('UPSTREAM_ERROR', message, { retryable: false })
}
