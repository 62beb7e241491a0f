import { type FeatureHost, messageOf, ToolError, type WebFetch } from '../../core/index.ts'
import { unknownFate } from './send-errors.ts'
import type { ChannelAnswer, ChannelIo, ChannelRequest, SentRequest } from './types.ts'

const MAX_BYTES = 65_536

/** Codes of the network guard for what never left this machine. */
const KEPT_HERE: ReadonlySet<string> = new Set(['HTTP_DISALLOWED_HOST', 'INPUT_SCHEMA_INVALID', 'CONFIG_INVALID'])
/** Words of the network guard for the same. */
const NOTHING_SENT = /^(?:No connection to |The name .* does not resolve)|redirects \(\d+\)/
// A signature too: with it, what was only shown could be sent by another way.
const SECRET_HEADERS = /^(?:authorization|cookie|proxy-authorization|.*(?:api-?key|token|secret|signature).*)$/i

/** What the io of one message is made of. */
export interface ChannelIoParts
  extends Pick<ChannelIo, 'channel' | 'signal' | 'callId' | 'run' | 'caller' | 'principal' | 'isTainted'> {
  readonly host: Pick<FeatureHost, 'secret' | 'hide' | 'redact' | 'clock'>
  readonly web: WebFetch
  /** Comes before the first byte; throws in a dry run. */
  readonly announce: (request: SentRequest) => Promise<void>
}

/** What a channel uses to send one message. */
export function createChannelIo({ host, web, announce, ...facts }: ChannelIoParts): ChannelIo {
  const { channel, signal } = facts
  return {
    ...facts,
    announce,
    now: () => host.clock.now(),
    secret(name) {
      const value = host.secret(name)
      if (value !== undefined) host.hide([value])
      return value
    },
    async fetch(url, request) {
      const { method, headers, body } = request
      await announce(shownRequest(url, request, host.redact))
      signal.throwIfAborted()
      try {
        const response = await web(url, {
          method,
          ...(headers && { headers: { ...headers } }),
          // A copy of nothing: TypeScript wants to know that its bytes are not shared.
          ...(body !== undefined && { body: body as string | Uint8Array<ArrayBuffer> }),
          redirect: 'error',
          signal,
        })
        return await readAnswer(response)
      } catch (error) {
        signal.throwIfAborted()
        if (isKeptHere(error)) throw error
        throw unknownFate(channel, host.redact(messageOf(error)).slice(0, 300), error)
      }
    },
  }
}

function isKeptHere(error: unknown): boolean {
  return ToolError.is(error) && (KEPT_HERE.has(error.code) || NOTHING_SENT.test(error.message))
}

/** A request as people may see it. */
function shownRequest(url: string, request: ChannelRequest, redact: (text: string) => string): SentRequest {
  const { method, headers = {}, body, shownUrl = url, shownBody } = request
  const shown = Object.entries(headers).map(
    ([name, value]) => [name, SECRET_HEADERS.test(name) ? '(hidden)' : redact(value)] as const,
  )
  const text = shownBody ?? (typeof body === 'string' ? body : body && `(${body.byteLength} bytes)`)
  return {
    type: 'http',
    method,
    url: redact(shownUrl),
    headers: Object.fromEntries(shown),
    ...(text !== undefined && { body: redact(text) }),
  }
}

/** An answer with the beginning of its body; the rest is not waited for. */
async function readAnswer(response: Response): Promise<ChannelAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  if (response.body) {
    // Leaving the loop closes the connection.
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes >= MAX_BYTES) break
    }
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8')
  return { status: response.status, headers: response.headers, text }
}
