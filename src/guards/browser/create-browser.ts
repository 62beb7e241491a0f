import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { BrowserDesk, BrowserHandle, BrowserOptions } from '../../contracts/browser.ts'

/** The whole ability, to come. */
export function createBrowser(_options: BrowserOptions, _host: AbilityHost): Ability<BrowserHandle, BrowserDesk> {
  return { handle: () => ({}), desk: {}, async close() {} }
}
