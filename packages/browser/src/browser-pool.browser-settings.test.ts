import { expect, it, vi } from 'vitest'
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

it('warns of the former name jail, which means the sandbox of commands', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  try {
    expect(browserSettings({ sandbox: 'jail' })).toMatchObject({ sandbox: 'jail' })
    expect(browserSettings({ sandbox: 'command' })).toMatchObject({ sandbox: 'command' })
    expect(warn.mock.calls).toEqual([
      ["The browser option sandbox: 'jail' is called 'command' now.", 'DeprecationWarning'],
    ])
  } finally {
    warn.mockRestore()
  }
})

it('says which tabs there are instead of one that is not open', () => {
  expect(noTab('t9', ['t1', 't3'])).toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'Tab "t9" not found.', fix: { hint: 'Open tabs: t1, t3.' } },
  })
  expect(noTab(undefined, [])).toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'No tab is open.', fix: { hint: 'Open a page first, with action open.' } },
  })
})
