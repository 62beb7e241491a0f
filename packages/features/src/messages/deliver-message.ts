import { type Clock, type FeatureHost, messageOf, ToolError, type WebFetch } from '@tool-hub/core'
import { untilAborted } from '@tool-hub/core/lib'
import type {
  Channel,
  ChannelAnswer,
  ChannelIo,
  ChannelRequest,
  Delivery,
  OutgoingMessage,
  SentRequest,
} from './channel.ts'
import { isUnknown, LOOK_THERE, unknownFate } from './send-errors.ts'

/** A checked request for a channel. */
export type Errand =
  | { readonly action: 'send'; readonly message: OutgoingMessage }
  | { readonly action: 'edit'; readonly message: OutgoingMessage; readonly messageId: string }
  | {
      readonly action: 'react'
      readonly to: readonly string[]
      readonly messageId: string
      readonly emoji: string
    }

const RETRY_MS = 300

/** Calls the channel; if the delivery is unknown and the channel is idempotent, tries once more. */
export async function deliverMessage(errand: Errand, channel: Channel, io: ChannelIo, clock: Clock): Promise<Delivery> {
  // The channel does not announce what it sends, so this is recorded before.
  if (!channel.canRehearse) await io.announce(shownErrand(errand))
  try {
    return await speak(errand, channel, io)
  } catch (error) {
    if (!channel.isIdempotent || !isUnknown(error)) throw error
    await pause(clock, io.signal)
    return speak(errand, channel, io)
  }
}

async function speak(errand: Errand, channel: Channel, io: ChannelIo): Promise<Delivery> {
  switch (errand.action) {
    case 'send':
      return (await channel.send(errand.message, io)) ?? {}
    case 'edit':
      return { id: errand.messageId, ...(await channel.edit!(errand.messageId, errand.message, io)) }
    case 'react':
      await channel.react!(errand.messageId, errand.emoji, io, errand.to)
      return { id: errand.messageId }
  }
}

function shownErrand(errand: Errand): SentRequest {
  const { action } = errand
  if (action === 'react') {
    const { to, messageId, emoji } = errand
    return { type: 'other', method: action, to, body: JSON.stringify({ messageId, emoji }) }
  }
  const { to, title, text, level, attachments } = errand.message
  const files = attachments.map(({ name, content }) => `${name} (${content.byteLength} bytes)`)
  return { type: 'other', method: action, to, body: JSON.stringify({ title, text, level, attachments: files }) }
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  let cancel = () => {}
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(RETRY_MS, resolve)
  })
  return untilAborted(over, signal).finally(() => cancel())
}

/** Default timeout of a message. */
export const TIMEOUT_MS = 30_000

/** A timeout, and the signals that also end the work. */
interface Deadline {
  readonly timeoutMs: number
  readonly signals: readonly AbortSignal[]
  readonly clock: Clock
  readonly channel: string
}

/** Runs `work` with a timeout; rejects when it is over, even if `work` ignores the signal. */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { timeoutMs, signals, clock, channel } = deadline
  const over = new AbortController()
  const signal = AbortSignal.any([...signals, over.signal])
  signal.throwIfAborted()
  const cancel = clock.after(timeoutMs, () => over.abort(tooLong(channel, timeoutMs)))
  try {
    return await untilAborted(work(signal), signal)
  } finally {
    cancel()
  }
}

function tooLong(channel: string, timeoutMs: number): ToolError {
  const message = `The channel ${channel} did not answer in ${timeoutMs} ms; it is not known whether the message arrived.`
  return new ToolError('HTTP_TIMEOUT', message, {
    hint: LOOK_THERE,
    retryable: false,
    details: { isUnknown: true },
  })
}

const MAX_BYTES = 65_536

/** Codes of the network guard for requests that were not sent. */
const KEPT_HERE: ReadonlySet<string> = new Set(['HTTP_DISALLOWED_HOST', 'INPUT_SCHEMA_INVALID', 'CONFIG_INVALID'])
/** Messages of the network guard for requests that were not sent. */
const NOTHING_SENT = /^(?:No connection to |The name .* does not resolve)|redirects \(\d+\)/
// Also signatures: with one, a request that was only shown could be sent.
const SECRET_HEADERS = /^(?:authorization|cookie|proxy-authorization|.*(?:api-?key|token|secret|signature).*)$/i

/** Options of `createChannelIo`. */
interface ChannelIoOptions
  extends Pick<ChannelIo, 'channel' | 'signal' | 'callId' | 'run' | 'caller' | 'principal' | 'isTainted'> {
  readonly host: Pick<FeatureHost, 'secret' | 'hide' | 'redact' | 'clock'>
  readonly web: WebFetch
  /** Called before the first byte is sent; throws in a dry run. */
  readonly announce: (request: SentRequest) => Promise<void>
}

/** The `ChannelIo` for one message. */
export function createChannelIo({ host, web, announce, ...facts }: ChannelIoOptions): ChannelIo {
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
          // Not copied: the cast only tells TypeScript that the buffer is not shared.
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

/** A request to show to people, without secrets. */
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

/** Reads a response and the beginning of its body. */
async function readAnswer(response: Response): Promise<ChannelAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    // This closes the connection.
    if (bytes >= MAX_BYTES) break
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8')
  return { status: response.status, headers: response.headers, text }
}
