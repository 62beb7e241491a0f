import type { BrowserContext, Dialog, Download, Page } from 'playwright-core'
import { type FeatureCall, type FeatureHost, type ProgramProxy, ToolError } from '../../core/index.ts'
import type { BrowserSettings } from './browser-settings.ts'
import { PageEventQueue } from './page/page-news.ts'
import { Tab } from './page/tab.ts'
import { RunNetwork } from './run-network.ts'
import { GATE_USER } from './start/proxy-gate.ts'
import type { Chromium } from './start/start-chromium.ts'
import type { BrowserTab } from './types.ts'

const VIEWPORT = { width: 1_280, height: 720 }

/** What one run has of the browser: a profile of its own that is never on disk, its tabs, its way to the network. */
export class RunBrowser {
  readonly chromium: Chromium
  readonly network: RunNetwork
  readonly news: PageEventQueue
  /** When it was last used. */
  usedAt = 0
  readonly #context: BrowserContext
  readonly #settings: BrowserSettings
  readonly #release: () => Promise<void>
  readonly #tabs = new Map<string, Tab>()
  #current: Tab | undefined
  #count = 0
  #isClosed = false

  private constructor(
    parts: Pick<RunBrowser, 'chromium' | 'network' | 'news'>,
    context: BrowserContext,
    settings: BrowserSettings,
    release: () => Promise<void>,
  ) {
    this.chromium = parts.chromium
    this.network = parts.network
    this.news = parts.news
    this.#context = context
    this.#settings = settings
    this.#release = release
    context.on('page', (page) => this.#adopt(page))
    context.on('dialog', (dialog) => void this.#answer(dialog))
    // Of the context, so that one of a window that was closed at once is stopped as well.
    context.on('download', (download) => void this.#take(download))
  }

  /** Opens it for the run of a call. */
  static async open(
    chromium: Chromium,
    { settings, host, call }: { settings: BrowserSettings; host: FeatureHost; call: FeatureCall },
  ): Promise<RunBrowser> {
    const news = new PageEventQueue()
    const network = new RunNetwork(call, news)
    const stopping = new AbortController()
    const bounds = { signal: stopping.signal, maxBytes: settings.trafficBytes }
    const proxy: ProgramProxy = await host.openProxy(network, bounds)
    const { password, leave } = chromium.gate.admit(proxy.socket)
    const release = async () => {
      leave()
      stopping.abort(new ToolError('ABORTED', 'The browser of the run is closed.'))
      await proxy.close()
    }
    try {
      const context = await chromium.browser.newContext({
        // Loopback, too: the proxy judges it like any other address.
        proxy: { server: chromium.proxy, username: GATE_USER, password, bypass: '<-loopback>' },
        viewport: VIEWPORT,
        serviceWorkers: 'block',
        acceptDownloads: true,
        permissions: [],
      })
      context.setDefaultTimeout(settings.timeoutMs)
      return new RunBrowser({ chromium, network, news }, context, settings, release)
    } catch (error) {
      await release()
      throw error
    }
  }

  get tabCount(): number {
    return this.#tabs.size
  }

  /** The tab of this id, or the current one. */
  tab(id?: string): Tab {
    const tab = id === undefined ? this.#current : this.#tabs.get(id)
    if (tab) {
      this.#current = tab
      return tab
    }
    throw noTab(id, [...this.#tabs.keys()])
  }

  /** A new, empty tab. */
  async newTab(): Promise<Tab> {
    const { tabs } = this.#settings
    if (this.#tabs.size >= tabs) {
      throw new ToolError('BUDGET_EXCEEDED', `${this.#tabs.size} tabs are open, the limit is ${tabs}.`, {
        fix: { key: 'browser.tabs', hint: 'Close one, or navigate in it.' },
      })
    }
    const page = await this.#context.newPage()
    const tab = this.#tabOf(page)
    if (!tab) throw new ToolError('UPSTREAM_ERROR', 'The new tab was closed at once.')
    this.#current = tab
    return tab
  }

  async listTabs(): Promise<readonly BrowserTab[]> {
    return Promise.all(
      [...this.#tabs.values()].map(async (tab) => ({
        tab: tab.id,
        url: tab.url(),
        title: await tab.title(),
        isCurrent: tab === this.#current,
      })),
    )
  }

  #tabOf(page: Page | null): Tab | undefined {
    return [...this.#tabs.values()].find((tab) => tab.page === page)
  }

  /** Wipes the profile, and ends all connections. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    // The connections first: nothing that a page still wants to send goes anywhere.
    await this.#release()
    // It is gone with the browser, where that is gone.
    await Promise.race([this.#context.close().catch(() => {}), this.chromium.ended])
  }

  #adopt(page: Page): void {
    if (this.#tabs.size >= this.#settings.tabs) {
      this.#refusePopup(page)
      return
    }
    this.#count += 1
    const tab = new Tab(`t${this.#count}`, page)
    this.#tabs.set(tab.id, tab)
    page.on('close', () => this.#forget(tab))
    // It never answers again, and would keep every action waiting for its whole time.
    page.on('crash', () => void page.close().catch(() => {}))
    void page.opener().then((opener) => opener && this.news.opened(tab.id))
  }

  #forget(tab: Tab): void {
    this.#tabs.delete(tab.id)
    if (this.#current === tab) this.#current = [...this.#tabs.values()].at(-1)
  }

  /** Chromium lets a page open one window a click; there may be no room for it. */
  #refusePopup(page: Page): void {
    this.news.popupClosed()
    // What does not close any more is closed already.
    page.close().catch(() => {})
  }

  async #take(download: Download): Promise<void> {
    const tab = this.#tabOf(download.page())
    const onDownload = tab?.onDownload
    if (tab && onDownload) {
      tab.onDownload = undefined
      return onDownload(download)
    }
    this.news.downloadStopped()
    await download.cancel().catch(() => {})
    await download.delete().catch(() => {})
  }

  /** Nobody may be kept waiting by a dialog, so it is answered at once. */
  async #answer(dialog: Dialog): Promise<void> {
    const tab = this.#tabOf(dialog.page())
    const isLeaving = dialog.type() === 'beforeunload'
    const plan = isLeaving ? { accept: true } : tab?.dialogPlan
    if (tab && !isLeaving) tab.dialogPlan = undefined
    this.news.dialog(`${dialog.type()} ${plan?.accept ? 'accepted' : 'dismissed'}: ${dialog.message()}`)
    // It may be gone with its page.
    await (plan?.accept ? dialog.accept(plan.text) : dialog.dismiss()).catch(() => {})
  }
}

/** Says which tabs there are instead. */
export function noTab(id: string | undefined, known: readonly string[]): ToolError {
  return new ToolError('NOT_FOUND', id === undefined ? 'No tab is open.' : `There is no tab ${JSON.stringify(id)}.`, {
    hint: known.length > 0 ? `Open are: ${known.join(', ')}.` : 'Open a page first, with action open.',
  })
}
