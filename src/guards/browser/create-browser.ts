import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { BrowserDesk, BrowserHandle, BrowserOptions } from '../../contracts/browser.ts'
import { browserHandle } from './browser-handle.ts'
import { BrowserHouse } from './browser-house.ts'
import { browserSettings } from './browser-settings.ts'
import { renderPage } from './render-page.ts'

/** The browser of a hub; nothing is loaded or started before it is used. */
export function createBrowser(options: BrowserOptions, host: AbilityHost): Ability<BrowserHandle, BrowserDesk> {
  const settings = browserSettings(options)
  const house = new BrowserHouse(settings, host)
  return {
    handle: (call) => browserHandle(call, { house, settings, clock: host.clock }),
    desk: {
      status: async () => house.status(),
      render: (request) => house.use((chromium) => renderPage(chromium, request)),
      close: () => house.close(),
    },
    endRun: (run) => house.endRun(run),
    calm: () => house.calm(),
    close: () => house.close(),
  }
}
