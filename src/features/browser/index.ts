import { defineFeature, lazyModule } from '../../core/index.ts'
import { browserTool } from './tools/browser.ts'
import type { BrowserHandle, BrowserOptions, BrowserService } from './types.ts'

export { findChromium, loadPlaywright } from './start/find-chromium.ts'
export { chooseSandbox } from './start/start-chromium.ts'
export type { BrowserHandle, BrowserOptions, BrowserService } from './types.ts'

declare module '../../core/feature.ts' {
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

/** Web pages in a real browser. */
export const browser = defineFeature({
  name: 'browser',
  capability: 'browser',
  create: async (options, host) => (await load()).createBrowser(options, host),
  methods: ['status', 'render', 'close'],
  tools: [browserTool],
})
