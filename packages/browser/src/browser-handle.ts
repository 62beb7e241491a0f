import { type Clock, type FeatureCall, messageOf, ToolError } from '@tool-hub/core'
import { judgeUrl } from '@tool-hub/sandbox/network'
import type { Response } from 'playwright-core'
import type { BrowserPool, BrowserSettings } from './browser-pool.ts'
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
import { takeSnapshot } from './page/take-snapshot.ts'
import { type ActionContext, NEW_TAB, performFor } from './perform.ts'
import { noTab } from './run-browser.ts'
import { browserTargets } from './tools/browser-schema.ts'
import type { BrowserHandle, InTab, LoadState } from './types.ts'

/** What a browser handle works with. */
export interface HandleOptions {
  readonly pool: BrowserPool
  readonly settings: BrowserSettings
  readonly clock: Clock
}

const NOTHING = async () => ({})
const CONSOLE_LINES = 50

/** The browser as one call may use it. */
export function browserHandle(call: FeatureCall, { pool, settings, clock }: HandleOptions): BrowserHandle {
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
