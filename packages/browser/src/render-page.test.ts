import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../core/src/context.ts'
import { browserSettings } from './browser-pool.ts'
import { renderPage } from './create-browser.ts'
import { type Chromium, startChromium } from './start/start-chromium.ts'

/** A real Chromium whose pages fail to make their first pictures. */
async function failing(times: number): Promise<Chromium> {
  const chromium = await startChromium(browserSettings({}), systemClock)
  onTestFinished(() => chromium.close())
  const { browser } = chromium
  const newContext = browser.newContext.bind(browser)
  let left = times
  browser.newContext = async (options) => {
    const context = await newContext(options)
    const newPage = context.newPage.bind(context)
    context.newPage = async () => {
      const page = await newPage()
      const screenshot = page.screenshot.bind(page)
      page.screenshot = async (wanted) => {
        left -= 1
        if (left >= 0) throw new Error('Protocol error (Page.captureScreenshot): Unable to capture screenshot')
        return screenshot(wanted)
      }
      return page
    }
    return context
  }
  return chromium
}

/** Chromium itself has one; each page has another until it is shown. */
const DEFAULT_CONTEXTS = 1
const REQUEST = { html: '<p>hello</p>', width: 64, height: 32 }

it('shows a page once more when Chromium fails to make a picture of it', async () => {
  const chromium = await failing(1)
  const { png } = await renderPage(chromium, REQUEST)
  expect(Buffer.from(png).readUInt32BE(16)).toBe(64)
  expect(chromium.browser.contexts()).toHaveLength(DEFAULT_CONTEXTS)
})

it('fails when it cannot be shown the second time either', async () => {
  const chromium = await failing(2)
  await expect(renderPage(chromium, REQUEST)).rejects.toMatchObject({
    code: 'EXEC_FAILED',
    details: { message: expect.stringContaining('Unable to capture screenshot') },
  })
  expect(chromium.browser.contexts()).toHaveLength(DEFAULT_CONTEXTS)
})
