import { expect, it } from 'vitest'
import { browserSettings } from './browser-pool.ts'
import { noTab } from './run-browser.ts'

it('has a default for each bound, and takes what the owner says', () => {
  const defaults = {
    headless: true,
    idleMs: 300_000,
    timeoutMs: 30_000,
    tabs: 8,
    trafficBytes: 200_000_000,
    downloadBytes: 50_000_000,
    pageMemoryBytes: 512_000_000,
  }
  expect(browserSettings({})).toEqual(defaults)
  expect(browserSettings({ headless: false, tabs: 2 })).toEqual({ ...defaults, headless: false, tabs: 2 })
})

it('says which tabs there are instead of one that is not open', () => {
  expect(noTab('t9', ['t1', 't3'])).toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'There is no tab "t9".', fix: { hint: 'Open tabs: t1, t3.' } },
  })
  expect(noTab(undefined, [])).toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'No tab is open.', fix: { hint: 'Open a page first, with action open.' } },
  })
})
