import { ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { ChannelAnswer } from './channel.ts'

/** Hint for a message that may have arrived. */
export const LOOK_THERE = 'Check whether it arrived before you send it again.'

/** The refusal of a message by a channel. */
export interface ChannelRefusal {
  readonly channel: string
  /** HTTP status, or the code of a mail server. */
  readonly status: number
  /** The reason that it gave; shortened, without secrets. */
  readonly words: string
  readonly retryAfterMs?: number
  /** It may have been delivered nevertheless, for example after a server error. */
  readonly isUnknown?: boolean
}

/** The error for a refused message. */
export function refused({ channel, status, words, retryAfterMs, isUnknown = false }: ChannelRefusal): ToolError {
  const said = words === '' ? '' : `: ${words}`
  if (status === 429) {
    const wait = retryAfterMs === undefined ? 'wait a while' : `wait ${retryAfterMs} ms`
    const message = `The channel ${channel} takes no more messages for now (429); ${wait}${said}.`
    return new ToolError('RATE_LIMITED', message, { details: { retryAfterMs, words } })
  }
  return new ToolError('UPSTREAM_ERROR', `The channel ${channel} refused it (${status})${said}.`, {
    hint: isUnknown ? LOOK_THERE : 'Nothing was delivered. Follow its message, or ask the owner to check the channel.',
    retryable: false,
    details: { status, words, isUnknown },
  })
}

/** The error for a message that was cut off while it was sent; `words` is the text of the service. */
export function unknownFate(channel: string, why: string, cause: unknown, words?: string): ToolError {
  const message = `It is not known whether the message reached ${channel}: ${why}.`
  return new ToolError('UPSTREAM_ERROR', message, {
    hint: LOOK_THERE,
    retryable: false,
    details: { isUnknown: true, ...(words !== undefined && { words }) },
    cause,
  })
}

/** Whether the message may have arrived. */
export function isUnknown(error: unknown): boolean {
  return ToolError.is(error) && error.details?.isUnknown === true
}

const MAX_WORDS_LENGTH = 300
const MAX_WAIT_MS = 86_400_000

/** Details of a refusal, as far as the channel can read them. */
interface AnswerWords {
  readonly channel: string
  readonly redact: (text: string) => string
  /** The reason that it gave. Default: its complete response. */
  readonly words?: string
  readonly retryAfterSeconds?: number
  /** Default: the status of the response. */
  readonly status?: number
}

/** The error for a response that refuses a message. */
export function refusedBy(answer: ChannelAnswer, said: AnswerWords): ToolError {
  const { channel, redact, words = answer.text, status = answer.status } = said
  const seconds = said.retryAfterSeconds ?? readRetryAfter(answer.headers)
  const retryAfterMs = seconds === undefined ? undefined : Math.min(Math.ceil(seconds * 1000), MAX_WAIT_MS)
  const shown = escapeLine(redact(words.slice(0, 4 * MAX_WORDS_LENGTH)).trim()).slice(0, MAX_WORDS_LENGTH)
  const isUnknown = status < 300 || status >= 500
  return refused({ channel, status, words: shown, isUnknown, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

/** Seconds to wait; a date is compared with the `date` header, because clocks differ. */
function readRetryAfter(headers: Headers): number | undefined {
  const header = headers.get('retry-after') ?? ''
  if (/^\d{1,7}(?:\.\d{1,6})?$/.test(header)) return Number(header)
  const seconds = (Date.parse(header) - Date.parse(headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
