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
