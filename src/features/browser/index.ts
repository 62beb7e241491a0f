export { findChromium } from './start/find-chromium.ts'
export { loadPlaywright } from './start/load-playwright.ts'
export { chooseSandbox } from './start/start-chromium.ts'

import { defineFeature, lazyModule } from '../../core/index.ts'
import { browser as browserTool } from './tools/browser.ts'

const load = lazyModule(() => import('./create-browser.ts'))

/** Web pages in a real browser. */
export const browser = defineFeature({
  name: 'browser',
  capability: 'browser',
  create: async (options, host) => (await load()).createBrowser(options, host),
  methods: ['status', 'render', 'close'],
  tools: [browserTool],
})
