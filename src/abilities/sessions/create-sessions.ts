import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { SessionDesk, SessionHandle, SessionsOptions } from '../../contracts/sessions.ts'

/** The whole ability, to come. */
export function createSessions(_options: SessionsOptions, _host: AbilityHost): Ability<SessionHandle, SessionDesk> {
  return { handle: () => ({}), desk: {}, async close() {} }
}
