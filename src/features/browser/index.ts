export { createBrowser } from './create-browser.ts'
export { findChromium } from './start/find-chromium.ts'
export { loadPlaywright } from './start/load-playwright.ts'
export { chooseSandbox } from './start/start-chromium.ts'
