import { defineFeature, lazyModule } from '@tool-hub/core'
import type { BrowserHandle, BrowserOptions, BrowserService } from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Web pages in a real browser. */
    readonly browser: BrowserHandle
  }
  interface FeatureServices {
    /** The browser of agents: status and rendering; started when it is first used. */
    readonly browser: BrowserService
  }
  interface FeatureOptions {
    /** The browser that agents use; docs/reference/browser.md. */
    readonly browser?: BrowserOptions
  }
}

const load = lazyModule(() => import('./create-browser.ts'))
const loadExamine = lazyModule(() => import('./start/start-chromium.ts'))

/** Web pages in a real browser. */
export const browser = defineFeature({
  name: 'browser',
  capability: 'browser',
  create: async (options, host) => (await load()).createBrowser(options, host),
  methods: ['status', 'render', 'close'],
  examine: async (options) => (await loadExamine()).examineBrowser(options),
})
