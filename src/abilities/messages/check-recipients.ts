import type { ChannelRecipients } from '../../contracts/messages.ts'
import { ToolError } from '../../errors.ts'

const LONGEST = 320
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
    if (recipient === '' || recipient.length > LONGEST || ODD.test(recipient) || !recipients.admits(recipient)) {
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
