import { type Feature, type FeatureHost, ToolError } from '../../core/index.ts'
import { throwIfAborted } from '../../sandbox/index.ts'
import { browserHandle } from './browser-handle.ts'
import { BrowserPool } from './browser-pool.ts'
import { browserSettings } from './browser-settings.ts'
import { evaluateInPage } from './page/evaluate-in-page.ts'
import { toPageError } from './page/page-error.ts'
import { Tab } from './page/tab.ts'
import type { Chromium } from './start/start-chromium.ts'
import type { BrowserHandle, BrowserOptions, BrowserService, Rendered, RenderRequest } from './types.ts'

/** No server has this name, and nothing is ever asked of it: the browser is told what is there. */
const ADDRESS = 'http://canvas.invalid/'

/** Scripts and styles of its own, nothing from anywhere, and an origin that is nobody's. */
const CSP =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; " +
  "base-uri 'none'; form-action 'none'; sandbox allow-scripts"

const MAX_HTML_BYTES = 20_000_000

const SIDE = { least: 16, most: 4_000 }

const MAX_ERRORS = 10

/** The browser of a hub; nothing is loaded or started before it is used. */
export function createBrowser(options: BrowserOptions, host: FeatureHost): Feature<BrowserHandle, BrowserService> {
  const settings = browserSettings(options)
  const house = new BrowserPool(settings, host)
  return {
    handle: (call) => browserHandle(call, { house, settings, clock: host.clock }),
    service: {
      status: async () => house.status(),
      render: (request) => house.use((chromium) => renderPage(chromium, request)),
      close: () => house.close(),
    },
    endRun: (run) => house.endRun(run),
    calm: () => house.calm(),
    close: () => house.close(),
  }
}

/**
 * Shows HTML in a context of its own that reaches nothing, and makes a picture of it. On a busy machine Chromium fails to do
 * so now and then; as nothing can have happened elsewhere, it gets a second try.
 */
export async function renderPage(chromium: Chromium, request: RenderRequest): Promise<Rendered> {
  try {
    return await renderOnce(chromium, request)
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'EXEC_FAILED') throw error
    return renderOnce(chromium, request)
  }
}

async function renderOnce(chromium: Chromium, request: RenderRequest): Promise<Rendered> {
  const { html, script, timeoutMs: timeout = 15_000, signal = new AbortController().signal } = request
  throwIfAborted(signal)
  if (Buffer.byteLength(html) > MAX_HTML_BYTES) {
    throw new ToolError('FILE_TOO_LARGE', `The HTML is over ${MAX_HTML_BYTES} bytes.`, { hint: 'Show less at once.' })
  }
  const viewport = { width: side(request.width ?? 1_024), height: side(request.height ?? 768) }
  // It gets no password for the gate, so nothing would pass even if something tried.
  const context = await chromium.browser.newContext({
    viewport,
    offline: true,
    serviceWorkers: 'block',
    acceptDownloads: false,
  })
  const stop = () => void context.close().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(stop, timeout + 1_000)
  try {
    const headers = { 'Content-Security-Policy': CSP, 'Content-Type': 'text/html; charset=utf-8' }
    await context.route('**/*', (route) =>
      route.request().url() === ADDRESS && route.request().isNavigationRequest()
        ? route.fulfill({ body: html, headers })
        : route.abort(),
    )
    const tab = new Tab('canvas', await context.newPage())
    context.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}))
    await tab.page.goto(ADDRESS, { timeout, signal })
    const session = await tab.session()
    const { json = undefined, isCut = false } =
      script === undefined ? {} : await evaluateInPage(session, script, { timeout, signal })
    const png = await tab.page.screenshot({ timeout, signal, animations: 'disabled', caret: 'hide' })
    const errors = tab.lines({ limit: MAX_ERRORS, onlyErrors: true }).map(({ text }) => text)
    return { png: new Uint8Array(png), ...(json !== undefined && { json }), isCut, errors }
  } catch (error) {
    throwIfAborted(signal)
    const isBrowserGone = !chromium.browser.isConnected()
    throw toPageError(error, { action: 'render', timeoutMs: timeout, isBrowserGone, isTabGone: false })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    await context.close().catch(() => {})
  }
}

function side(pixels: number): number {
  return Math.min(SIDE.most, Math.max(SIDE.least, Math.round(pixels) || SIDE.least))
}
