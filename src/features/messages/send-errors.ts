import { ToolError } from '../../core/index.ts'

/** What to do about a message that may be there. */
export const LOOK_THERE = 'Look there before you send it again: it may be there already.'

/** What a channel answered that it did not want. */
export interface Refusal {
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
export function refused({ channel, status, words, retryAfterMs, isUnknown = false }: Refusal): ToolError {
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
