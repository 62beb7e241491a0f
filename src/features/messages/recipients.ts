import { ToolError } from '../../core/index.ts'
import type { ChannelRecipients } from './channel.ts'

/** The channel that every hub has: the inbox of its console. */
export const CONSOLE_CHANNEL = 'console'

const ADDRESS = /^[^@\s]+@[^@\s]+$/

/**
 * What policy decides on when something is sent: `mail/anna@example.org`, or `ops` where the message goes wherever the
 * owner has pointed the channel.
 */
export function messageTargets(channel: string, to: readonly string[] = []): string[] {
  if (to.length === 0) return [channel]
  return [...new Set(to.map((recipient) => `${channel}/${normaliseRecipient(recipient)}`))]
}

/** The one spelling of a recipient: rules must not miss an address for its capitals. */
export function normaliseRecipient(recipient: string): string {
  const trimmed = recipient.trim()
  return trimmed.startsWith('@') || ADDRESS.test(trimmed) ? trimmed.toLowerCase() : trimmed
}

const MAX_LENGTH = 320

// What a target, a header or a list would read in another way.
const ODD = /[\p{Cc}\p{Cf}\p{Cs}\p{Z},;/<>"'\\]/u

/** Whom a message goes to: those it names, if the owner admits all of them, or those that the owner has set. */
export function checkRecipients(
  named: readonly string[],
  recipients: ChannelRecipients | undefined,
  channel: string,
): readonly string[] {
  if (!recipients) {
    if (named.length === 0) return []
    throw invalid(`The channel ${channel} has no recipients to choose from.`, 'Leave out to.')
  }
  const { most, usual = [], hint } = recipients
  if (named.length === 0) {
    if (usual.length > 0) return usual
    throw invalid(`A message to the channel ${channel} needs a recipient.`, `Give to; the owner admits ${hint}.`)
  }
  if (named.length > most) {
    throw invalid(`The message names ${named.length} recipients; the channel ${channel} takes ${most}.`, 'Split it.')
  }
  for (const recipient of named) {
    if (recipient === '' || recipient.length > MAX_LENGTH || ODD.test(recipient) || !recipients.admits(recipient)) {
      throw new ToolError('POLICY_DENIED', `The channel ${channel} may not write to ${shown(recipient)}.`, {
        fix: { key: 'messages', hint: `The owner admits ${hint}.` },
      })
    }
  }
  return named
}

function shown(recipient: string): string {
  return JSON.stringify(recipient.slice(0, 100))
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
