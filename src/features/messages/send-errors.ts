import { ToolError } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { ChannelAnswer } from './channel.ts'

/** What to do about a message that may be there. */
export const LOOK_THERE = 'Look there before you send it again: it may be there already.'

/** What a channel answered that it did not want. */
export interface ChannelRefusal {
  readonly channel: string
  /** HTTP status, or the code of a mail server. */
  readonly status: number
  /** Its own words; cut, and without secrets. */
  readonly words: string
  readonly retryAfterMs?: number
  /** It may have taken it all the same: a server in trouble, or one that says nothing that can be understood. */
  readonly isUnknown?: boolean
}

/** The channel said no. */
export function refused({ channel, status, words, retryAfterMs, isUnknown = false }: ChannelRefusal): ToolError {
  const said = words === '' ? '' : `: ${words}`
  if (status === 429) {
    const wait = retryAfterMs === undefined ? 'wait a while' : `wait ${retryAfterMs} ms`
    const message = `The channel ${channel} takes no more messages for now (429); ${wait}${said}.`
    return new ToolError('RATE_LIMITED', message, { details: { retryAfterMs, words } })
  }
  return new ToolError('UPSTREAM_ERROR', `The channel ${channel} refused it (${status})${said}.`, {
    hint: isUnknown
      ? LOOK_THERE
      : 'Nothing was delivered. Do what its words say, or have the owner look at the channel.',
    retryable: false,
    details: { status, words, isUnknown },
  })
}

/** The connection was lost, or the time was over, after something had gone out; `words` are those of the other side. */
export function unknownFate(channel: string, why: string, cause: unknown, words?: string): ToolError {
  const message = `It is not known whether the message reached ${channel}: ${why}.`
  return new ToolError('UPSTREAM_ERROR', message, {
    hint: LOOK_THERE,
    retryable: false,
    details: { isUnknown: true, ...(words !== undefined && { words }) },
    cause,
  })
}

/** Whether the message may be there, or nobody knows. */
export function isUnknown(error: unknown): boolean {
  return ToolError.is(error) && error.details?.isUnknown === true
}

const MAX_WORDS_LENGTH = 300
const MAX_WAIT_MS = 86_400_000

/** What a service said instead of taking a message. */
interface AnswerWords {
  readonly channel: string
  readonly redact: (text: string) => string
  /** Its own words; its whole answer unless said. */
  readonly words?: string
  readonly retryAfterSeconds?: number
  /** Where it is another one than that of the answer. */
  readonly status?: number
}

/** The error of an answer that is a refusal. */
export function refusedBy(answer: ChannelAnswer, said: AnswerWords): ToolError {
  const { channel, redact, words = answer.text, status = answer.status } = said
  const seconds = said.retryAfterSeconds ?? readRetryAfter(answer.headers)
  const retryAfterMs = seconds === undefined ? undefined : Math.min(Math.ceil(seconds * 1000), MAX_WAIT_MS)
  const shown = escapeLine(redact(words.slice(0, 4 * MAX_WORDS_LENGTH)).trim()).slice(0, MAX_WORDS_LENGTH)
  const isUnknown = status < 300 || status >= 500
  return refused({ channel, status, words: shown, isUnknown, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

/** Seconds from now; a date is compared with that of the answer, since clocks differ. */
function readRetryAfter(headers: Headers): number | undefined {
  const header = headers.get('retry-after') ?? ''
  if (/^\d{1,7}(?:\.\d{1,6})?$/.test(header)) return Number(header)
  const seconds = (Date.parse(header) - Date.parse(headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
