import {
  type Clock,
  type Feature,
  type FeatureCall,
  type FeatureHost,
  messageOf,
  ToolError,
  throwIfAborted,
} from '@tool-hub/core'
import { judgeUrl } from '@tool-hub/sandbox/network'
import type { Response } from 'playwright-core'
import { BrowserPool, browserSettings } from './browser-pool.ts'
import { printPdf, takeScreenshot } from './page/capture.ts'
import {
  clickElement,
  dragElement,
  fillFields,
  pressKey,
  receiveDownload,
  selectIn,
  typeInto,
  uploadFiles,
  waitForPage,
} from './page/element-actions.ts'
import { evaluateInPage } from './page/evaluate-in-page.ts'
import { Tab } from './page/tab.ts'
import { takeSnapshot } from './page/take-snapshot.ts'
import { type ActionContext, NEW_TAB, performFor, toPageError } from './perform.ts'
import { noTab } from './run-browser.ts'
import type { Chromium } from './start/start-chromium.ts'
import { browserTargets } from './tools/browser-schema.ts'
import type {
  BrowserHandle,
  BrowserOptions,
  BrowserService,
  BrowserSettings,
  InTab,
  LoadState,
  Rendered,
  RenderRequest,
} from './types.ts'

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

/** What a browser handle works with. */
interface HandleOptions {
  readonly pool: BrowserPool
  readonly settings: BrowserSettings
  readonly clock: Clock
}

const NOTHING = async () => ({})
const CONSOLE_LINES = 50

/** The browser as one call may use it. */
function browserHandle(call: FeatureCall, { pool, settings, clock }: HandleOptions): BrowserHandle {
  const perform = performFor(call, pool, settings.timeoutMs)
  const look = (name: string, at: InTab) => ({ name, isEffect: false, at })
  const change = (name: string, at: InTab) => ({ name, isEffect: true, at })
  const visit = (url: string) => {
    // Policy judges the URL without its fragment, which only the page sees.
    if (url !== BLANK) call.permits('network', judgeUrl(url).href)
  }
  return {
    async status() {
      call.permits('browser', 'status')
      return pool.status(call.run)
    },
    async start() {
      call.permits('browser', 'start')
      await pool.use((chromium) => pool.runOf(chromium, call))
      return pool.status(call.run)
    },
    async stop() {
      call.permits('browser', 'stop')
      await pool.endRun(call.run)
    },
    async tabs() {
      call.permits('browser', 'tabs')
      return listTabs(call, pool)
    },
    async open({ url = BLANK, waitUntil, ...at }) {
      visit(url)
      return perform(change('open', { ...at, tab: NEW_TAB }), (work) => goTo(work, url, waitUntil))
    },
    async navigate({ url, waitUntil, ...at }) {
      visit(url)
      return perform(change('navigate', at), (work) => goTo(work, url, waitUntil))
    },
    back: (at) =>
      perform(change('back', at), (work) =>
        arrive(work, () => work.tab.page.goBack({ timeout: work.timeout, signal: work.signal })),
      ),
    forward: (at) =>
      perform(change('forward', at), (work) =>
        arrive(work, () => work.tab.page.goForward({ timeout: work.timeout, signal: work.signal })),
      ),
    reload: (at) =>
      perform(change('reload', at), (work) =>
        arrive(work, () => work.tab.page.reload({ timeout: work.timeout, signal: work.signal })),
      ),
    async close({ tab }) {
      call.permits('browser', 'close')
      if (!pool.has(call.run)) throw noTab(tab, [])
      await pool.use(async (chromium) => (await pool.runOf(chromium, call)).tab(tab).page.close())
      return listTabs(call, pool)
    },
    snapshot: (request) => perform(look('snapshot', request), (work) => takeSnapshot(work.tab, request, work, call)),
    screenshot: (request) => perform(look('screenshot', request), (work) => takeScreenshot(work.tab, request, work)),
    click: (options) => perform(change('click', options), (work) => clickElement(work, options).then(NOTHING)),
    type: (options) => perform(change('type', options), (work) => typeInto(work, options).then(NOTHING)),
    async press(options) {
      for (const target of browserTargets('press', options)) call.permits('browser', target)
      return perform(change('press', options), (work) => pressKey(work, options).then(NOTHING))
    },
    hover: ({ ref, ...at }) =>
      perform(look('hover', at), async (work) => {
        await (await work.tab.element(ref)).hover({ timeout: work.timeout, signal: work.signal })
        return {}
      }),
    drag: (options) => perform(change('drag', options), (work) => dragElement(work, options).then(NOTHING)),
    select: (options) => perform(change('select', options), (work) => selectIn(work, options).then(NOTHING)),
    fill: (options) => perform(change('fill', options), (work) => fillFields(work, options).then(NOTHING)),
    wait: (options) => perform(look('wait', options), (work) => waitForPage(work, options, clock).then(NOTHING)),
    evaluate: ({ expression, ...at }) =>
      perform(change('evaluate', at), async (work) => {
        const session = await work.tab.session()
        return evaluateInPage(session, expression, work).catch((error) => {
          if (ToolError.is(error) && error.details?.thrown) work.tab.keep('error', String(error.details.thrown))
          throw error
        })
      }),
    console: ({ limit = CONSOLE_LINES, onlyErrors = false, ...at }) =>
      perform(look('console', at), async (work) => ({
        lines: work.tab.lines({ limit, onlyErrors }),
        dropped: work.tab.dropped,
      })),
    pdf: (at) => perform(look('pdf', at), async ({ tab }) => ({ bytes: await printPdf(tab) })),
    upload: (options) => perform(change('upload', options), (work) => uploadFiles(work, options).then(NOTHING)),
    download: ({ ref, ...at }) =>
      perform(change('download', at), (work) => receiveDownload(work, { ref, maxBytes: settings.downloadBytes })),
    async dialog({ tab, accept, text }) {
      for (const target of browserTargets('dialog', { text })) call.permits('browser', target)
      if (!pool.has(call.run)) throw noTab(tab, [])
      await pool.use(async (chromium) => {
        const found = (await pool.runOf(chromium, call)).tab(tab)
        found.dialogPlan = { accept, ...(text !== undefined && { text }) }
      })
    },
  }
}

/** Lists the tabs of a run; does not start a browser if the run has none. */
async function listTabs(call: FeatureCall, pool: BrowserPool) {
  if (!pool.has(call.run)) return []
  call.markUntrusted()
  return pool.use(async (chromium) => (await pool.runOf(chromium, call)).listTabs())
}

/** The empty page, which needs no permission. */
const BLANK = 'about:blank'

/** Navigates a tab to a page that the call may visit. */
export function goTo(work: ActionContext, url: string, waitUntil: LoadState = 'load'): Promise<{ status?: number }> {
  const { tab, timeout, signal } = work
  if (url !== BLANK) work.run.network.visit(judgeUrl(url))
  return arrive(work, () => tab.page.goto(url, { waitUntil, timeout, signal }))
}

/** Waits for a navigation; throws if the page was refused, is a download, or did not load in time. */
export async function arrive(
  work: ActionContext,
  navigate: () => Promise<Response | null>,
): Promise<{ status?: number }> {
  const { network } = work.run
  const before = network.refusals
  try {
    const response = await navigate()
    const why = response ? network.refusal(response.url()) : undefined
    if (why !== undefined) throw refused(why)
    return response ? { status: response.status() } : {}
  } catch (error) {
    if (ToolError.is(error)) throw error
    const message = messageOf(error)
    if (
      /ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY|ERR_SSL|ERR_EMPTY_RESPONSE/.test(message) &&
      network.refusals > before
    ) {
      throw refused(network.lastRefusal)
    }
    if (/Download is starting/.test(message)) throw isDownload()
    if (error instanceof Error && error.name === 'TimeoutError') throw await stillLoading(work, error)
    throw error
  }
}

function refused(why: string): ToolError {
  return new ToolError('HTTP_DISALLOWED_HOST', `The page was refused: ${why}`, {
    fix: { key: 'sandbox.network', hint: 'Use a host that the owner allows; sandbox.network names them.' },
  })
}

function isDownload(): ToolError {
  return new ToolError('CONFLICT', 'The address is a download, not a page; it was stopped.', {
    hint: 'Use core/http.downloadFile, or action download with the ref of the link.',
  })
}

/** A timeout error that says how far the page has loaded. */
async function stillLoading({ tab, timeout }: ActionContext, cause: Error): Promise<ToolError> {
  const late = new Promise<string>((resolve) => setTimeout(resolve, 500, 'unknown'))
  const state = await Promise.race([tab.page.evaluate('document.readyState').catch(() => 'unknown'), late])
  const isKnown = ['loading', 'interactive', 'complete'].includes(String(state))
  return new ToolError(
    'TIMEOUT',
    `The page did not finish loading within ${timeout} ms: its document is ${isKnown ? state : 'not there yet'}, ${tab.openRequests} requests are without an answer.`,
    { hint: 'A snapshot shows what is there; waitUntil: domcontentloaded or commit waits for less.', cause },
  )
}
