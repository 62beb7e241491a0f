import { type Feature, type FeatureHost, ToolError, throwIfAborted } from '@tool-hub/core'
import { browserHandle } from './browser-handle.ts'
import { BrowserPool, browserSettings } from './browser-pool.ts'
import { evaluateInPage } from './page/evaluate-in-page.ts'
import { Tab } from './page/tab.ts'
import { toPageError } from './perform.ts'
import type { Chromium } from './start/start-chromium.ts'
import type { BrowserHandle, BrowserOptions, BrowserService, Rendered, RenderRequest } from './types.ts'

/** A reserved name: no request for it leaves the browser, a route handler answers it. */
const ADDRESS = 'http://canvas.invalid/'

/** Allows inline scripts and styles, no network, and an opaque origin. */
const CSP =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; " +
  "base-uri 'none'; form-action 'none'; sandbox allow-scripts"

const MAX_HTML_BYTES = 20_000_000

const SIDE = { least: 16, most: 4_000 }

const MAX_ERRORS = 10

/** Creates the browser feature of a hub; nothing is loaded or started before the first use. */
export function createBrowser(options: BrowserOptions, host: FeatureHost): Feature<BrowserHandle, BrowserService> {
  const settings = browserSettings(options)
  const pool = new BrowserPool(settings, host)
  return {
    handle: (call) => browserHandle(call, { pool, settings, clock: host.clock }),
    service: {
      status: async () => pool.status(),
      render: (request) => pool.use((chromium) => renderPage(chromium, request)),
      close: () => pool.close(),
    },
    endRun: (run) => pool.endRun(run),
    calm: () => pool.calm(),
    close: () => pool.close(),
  }
}

/**
 * Renders HTML in a separate context without network and takes a screenshot. Chromium sometimes fails to do so on a busy
 * machine; rendering has no side effects, so it is tried a second time.
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
    throw new ToolError('FILE_TOO_LARGE', `The HTML is over ${MAX_HTML_BYTES} bytes.`, { hint: 'Render less HTML.' })
  }
  const viewport = { width: side(request.width ?? 1_024), height: side(request.height ?? 768) }
  // The context has no password for the proxy gate, so no request could pass it.
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
