import type { Clock } from '../../clock.ts'
import type { AbilityCall } from '../../contracts/ability.ts'
import type { BrowserHandle } from '../../contracts/browser.ts'
import { ToolError } from '../../errors.ts'
import { judgeUrl } from '../network/judge-url.ts'
import type { BrowserHouse } from './browser-house.ts'
import type { BrowserSettings } from './browser-settings.ts'
import { evaluateInPage } from './page/evaluate-in-page.ts'
import { arrive, BLANK, goTo } from './page/go-to.ts'
import { downloadFile, uploadFiles } from './page/move-files.ts'
import { takeScreenshot } from './page/take-screenshot.ts'
import { takeSnapshot } from './page/take-snapshot.ts'
import { clickElement, dragElement, fillFields, pressKey, selectIn, typeInto, waitFor } from './page/use-element.ts'
import { NEW_TAB, performFor } from './perform.ts'

/** What a handle is made of. */
export interface HandleParts {
  readonly house: BrowserHouse
  readonly settings: BrowserSettings
  readonly clock: Clock
}

const NOTHING = async () => ({})
const MOST_PDF_BYTES = 20_000_000
const CONSOLE_LINES = 50

/** The browser as one call may use it. */
export function browserHandle(call: AbilityCall, { house, settings, clock }: HandleParts): BrowserHandle {
  const perform = performFor(call, house, settings.timeoutMs)
  const look = (name: string, tab: string | undefined) => ({ name, isEffect: false, tab })
  const change = (name: string, tab: string | undefined) => ({ name, isEffect: true, tab })
  const visit = (url: string) => {
    // As policy knows it: without the part after #, which the page alone sees.
    if (url !== BLANK) call.permits('network', judgeUrl(url).href)
  }
  return {
    async status() {
      call.permits('browser', 'status')
      return house.status(call.run)
    },
    async start() {
      call.permits('browser', 'start')
      await house.use((chromium) => house.runOf(chromium, call))
      return house.status(call.run)
    },
    async stop() {
      call.permits('browser', 'stop')
      await house.endRun(call.run)
    },
    async tabs() {
      call.permits('browser', 'tabs')
      return listTabs(call, house)
    },
    async open({ url = BLANK, waitUntil }) {
      visit(url)
      return perform(change('open', NEW_TAB), (work) => goTo(work, url, waitUntil))
    },
    async navigate({ tab, url, waitUntil }) {
      visit(url)
      return perform(change('navigate', tab), (work) => goTo(work, url, waitUntil))
    },
    back: ({ tab }) =>
      perform(change('back', tab), (work) =>
        arrive(work, () => work.tab.page.goBack({ timeout: work.timeout, signal: work.signal })),
      ),
    forward: ({ tab }) =>
      perform(change('forward', tab), (work) =>
        arrive(work, () => work.tab.page.goForward({ timeout: work.timeout, signal: work.signal })),
      ),
    reload: ({ tab }) =>
      perform(change('reload', tab), (work) =>
        arrive(work, () => work.tab.page.reload({ timeout: work.timeout, signal: work.signal })),
      ),
    async close({ tab }) {
      call.permits('browser', 'close')
      await house.use(async (chromium) => (await house.runOf(chromium, call)).tab(tab).page.close())
      return listTabs(call, house)
    },
    snapshot: ({ tab, ...request }) =>
      perform(look('snapshot', tab), (work) => takeSnapshot(work.tab, request, work, call)),
    screenshot: ({ tab, ...request }) =>
      perform(look('screenshot', tab), (work) => takeScreenshot(work.tab, request, work)),
    click: (options) => perform(change('click', options.tab), (work) => clickElement(work, options).then(NOTHING)),
    type: (options) => perform(change('type', options.tab), (work) => typeInto(work, options).then(NOTHING)),
    press: (options) => perform(change('press', options.tab), (work) => pressKey(work, options).then(NOTHING)),
    hover: ({ tab, ref }) =>
      perform(look('hover', tab), async (work) => {
        await (await work.tab.element(ref)).hover({ timeout: work.timeout, signal: work.signal })
        return {}
      }),
    drag: (options) => perform(change('drag', options.tab), (work) => dragElement(work, options).then(NOTHING)),
    select: (options) => perform(change('select', options.tab), (work) => selectIn(work, options).then(NOTHING)),
    fill: (options) => perform(change('fill', options.tab), (work) => fillFields(work, options).then(NOTHING)),
    wait: (options) => perform(look('wait', options.tab), (work) => waitFor(work, options, clock).then(NOTHING)),
    evaluate: ({ tab, expression }) =>
      perform(change('evaluate', tab), async (work) => {
        const session = await work.tab.session()
        return evaluateInPage(session, expression, work).catch((error) => {
          if (ToolError.is(error) && error.details?.thrown) work.tab.keep('error', String(error.details.thrown))
          throw error
        })
      }),
    console: ({ tab, limit = CONSOLE_LINES, onlyErrors = false }) =>
      perform(look('console', tab), async (work) => ({
        lines: work.tab.lines({ limit, onlyErrors }),
        dropped: work.tab.dropped,
      })),
    pdf: ({ tab }) =>
      perform(look('pdf', tab), async (work) => {
        const bytes = await work.tab.page.pdf({ printBackground: true })
        if (bytes.length <= MOST_PDF_BYTES) return { bytes: new Uint8Array(bytes) }
        throw new ToolError('FILE_TOO_LARGE', `The PDF has ${bytes.length} bytes, the limit is ${MOST_PDF_BYTES}.`)
      }),
    upload: (options) => perform(change('upload', options.tab), (work) => uploadFiles(work, options).then(NOTHING)),
    download: ({ tab, ref }) =>
      perform(change('download', tab), (work) => downloadFile(work, { ref, maxBytes: settings.downloadBytes })),
    async dialog({ tab, accept, text }) {
      call.permits('browser', 'dialog')
      await house.use(async (chromium) => {
        const found = (await house.runOf(chromium, call)).tab(tab)
        found.dialogPlan = { accept, ...(text !== undefined && { text }) }
      })
    },
  }
}

/** Nothing is started to say that there is none. */
async function listTabs(call: AbilityCall, house: BrowserHouse) {
  const { isRunning } = await house.status(call.run)
  if (!isRunning) return []
  call.markUntrusted()
  return house.use(async (chromium) => (await house.runOf(chromium, call)).listTabs())
}
