import { ToolError } from '@tool-hub/core'
import type { ChannelRecipients } from './channel.ts'

/** Name of the channel that every hub has: the inbox of its console. */
export const CONSOLE_CHANNEL = 'console'

const ADDRESS = /^[^@\s]+@[^@\s]+$/

/**
 * The targets of a message for policy: `mail/anna@example.org`, or `ops` for a message without recipients, which goes
 * where the owner has configured.
 */
export function messageTargets(channel: string, to: readonly string[] = []): string[] {
  if (to.length === 0) return [channel]
  return [...new Set(to.map((recipient) => `${channel}/${normaliseRecipient(recipient)}`))]
}

/** The canonical spelling of a recipient, so that rules match addresses in any case. */
export function normaliseRecipient(recipient: string): string {
  const trimmed = recipient.trim()
  return trimmed.startsWith('@') || ADDRESS.test(trimmed) ? trimmed.toLowerCase() : trimmed
}

const MAX_LENGTH = 320

// Characters with a meaning in targets, headers or lists.
const ODD = /[\p{Cc}\p{Cf}\p{Cs}\p{Z},;/<>"'\\]/u

/** The recipients of a message: those it names, or else the usual ones. Throws if the owner does not allow one of them. */
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
