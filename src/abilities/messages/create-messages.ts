import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { MessageDesk, MessageHandle, MessagesOptions } from '../../contracts/messages.ts'

/** The whole ability, to come. */
export function createMessages(_options: MessagesOptions, _host: AbilityHost): Ability<MessageHandle, MessageDesk> {
  return { handle: () => ({}), desk: {}, async close() {} }
}
