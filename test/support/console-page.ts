import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type ConsoleService, startConsoleService } from './console-service.ts'
import { launchBrowser } from './launch-browser.ts'

/** How a page is opened: signed in by a token (default: the owner's; '' for nobody's). */
export interface OpenOptions {
  readonly token?: string
  /** A browser profile of its own, of this kind; else pages of one token share one, as tabs do. */
  readonly profile?: BrowserContextOptions
  /** Its clock can be turned on, so that nobody has to wait; in a profile of its own, since all pages of one share the clock. */
  readonly hasClock?: boolean
}

/**
 * Gives the tests of a file the built service and a real browser. After every test: the page's policy was not violated,
 * nothing was fetched from elsewhere, and no error went uncaught.
 */
export function useConsole(prepare?: (folder: string) => Promise<void>) {
  let browser: Browser
  let pages: Page[] = []
  let problems: string[] = []
  const contexts = new Map<string, BrowserContext>()
  const contextFor = async (token: string, profile: BrowserContextOptions | undefined) => {
    const known = profile ? undefined : contexts.get(token)
    if (known) return known
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...profile })
    context.setDefaultTimeout(300_000)
    await watch(context, new URL(state.service.url).origin, (problem) => problems.push(problem))
    if (!profile && token !== '') contexts.set(token, context)
    return context
  }
  const state = {
    service: undefined as unknown as ConsoleService,
    /** A new page at a path of the console. */
    async open(path: string, options: OpenOptions = {}): Promise<Page> {
      const { token = state.service.ownerToken, hasClock = false } = options
      const profile = options.profile ?? (hasClock ? {} : undefined)
      const page = await (await contextFor(token, profile)).newPage()
      pages.push(page)
      if (hasClock) await page.clock.install()
      await page.goto(`${state.service.url}${path}${token === '' ? '' : `#sign-in=${token}`}`)
      if (token !== '') await page.getByRole('navigation', { name: 'Sections' }).waitFor()
      return page
    },
  }
  beforeAll(async () => {
    const [service, launched] = await Promise.all([startConsoleService(prepare), launchBrowser()])
    state.service = service
    browser = launched
  })
  afterEach(async () => {
    // The last errors are reported before they are closed.
    await Promise.allSettled(pages.map((page) => page.evaluate('new Promise((resolve) => setTimeout(resolve))')))
    await Promise.all(pages.map((page) => page.close()))
    const found = problems
    pages = []
    problems = []
    expect(found).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await state.service?.close()
  })
  return state
}

/** What the cells of a list cannot show whole. */
export function cutCells(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('[role=gridcell]')].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)`,
  )
}

async function watch(context: BrowserContext, origin: string, tell: (problem: string) => void): Promise<void> {
  await context.exposeBinding('tellViolation', (_, words: string) => tell(`against the policy: ${words}`))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => tellViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) tell(`asked elsewhere: ${url.href}`)
  })
  context.on('weberror', (error) => tell(`uncaught: ${error.error().message}`))
}

/** What the page says that one has answered. */
export function said(page: Page, words: string): Locator {
  return page.getByRole('status').filter({ hasText: words })
}

/** Keys that answer are not heard in the first moment, when nobody can have read what they would answer. */
export async function pressUntil(page: Page, key: string, shown: Locator): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.keyboard.press(key)
        return shown.isVisible()
      },
      { interval: 100 },
    )
    .toBe(true)
}
