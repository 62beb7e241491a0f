import { type FeatureCall, type FeatureHost, type ProgramNetwork, type ProgramProxy, ToolError } from '@tool-hub/core'
import type { BrowserContext, Dialog, Download, Page } from 'playwright-core'
import { PageEventQueue, Tab } from './page/tab.ts'
import { GATE_USER } from './start/proxy-gate.ts'
import type { Chromium } from './start/start-chromium.ts'
import type { BrowserSettings, BrowserTab } from './types.ts'

const VIEWPORT = { width: 1_280, height: 720 }

/** The browser profile of one run: an in-memory context with its tabs and its own proxy. */
export class RunBrowser {
  readonly chromium: Chromium
  readonly network: RunNetwork
  readonly events: PageEventQueue
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
    parts: Pick<RunBrowser, 'chromium' | 'network' | 'events'>,
    context: BrowserContext,
    settings: BrowserSettings,
    release: () => Promise<void>,
  ) {
    this.chromium = parts.chromium
    this.network = parts.network
    this.events = parts.events
    this.#context = context
    this.#settings = settings
    this.#release = release
    context.on('page', (page) => this.#adopt(page))
    context.on('dialog', (dialog) => void this.#answer(dialog))
    // On the context, so that a download of a window that was closed immediately is stopped as well.
    context.on('download', (download) => void this.#take(download))
  }

  /** Opens it for the run of a call. */
  static async open(
    chromium: Chromium,
    { settings, host, call }: { settings: BrowserSettings; host: FeatureHost; call: FeatureCall },
  ): Promise<RunBrowser> {
    const events = new PageEventQueue()
    const network = new RunNetwork(call, events)
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
        // Loopback addresses go through the proxy as well, which judges them like any other.
        proxy: { server: chromium.proxy, username: GATE_USER, password, bypass: '<-loopback>' },
        viewport: VIEWPORT,
        serviceWorkers: 'block',
        acceptDownloads: true,
        permissions: [],
      })
      context.setDefaultTimeout(settings.timeoutMs)
      return new RunBrowser({ chromium, network, events }, context, settings, release)
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
    if (!tab) throw new ToolError('UPSTREAM_ERROR', 'The new tab was closed immediately.')
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

  /** Deletes the profile and closes all its connections. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    // Connections first, so that pages cannot send anything while they close.
    await this.#release()
    // If the browser has exited, so has the context.
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
    // A crashed page never answers, so every action would wait for its full timeout.
    page.on('crash', () => void page.close().catch(() => {}))
    void page.opener().then((opener) => opener && this.events.opened(tab.id))
  }

  #forget(tab: Tab): void {
    this.#tabs.delete(tab.id)
    if (this.#current === tab) this.#current = [...this.#tabs.values()].at(-1)
  }

  /** Chromium lets a page open one window per click; this closes it if the tab limit is reached. */
  #refusePopup(page: Page): void {
    this.events.popupClosed()
    // An error means that it is closed already.
    page.close().catch(() => {})
  }

  async #take(download: Download): Promise<void> {
    const tab = this.#tabOf(download.page())
    const onDownload = tab?.onDownload
    if (tab && onDownload) {
      tab.onDownload = undefined
      return onDownload(download)
    }
    this.events.downloadStopped()
    await download.cancel().catch(() => {})
    await download.delete().catch(() => {})
  }

  /** Answers a dialog immediately, because an open dialog blocks the page. */
  async #answer(dialog: Dialog): Promise<void> {
    const tab = this.#tabOf(dialog.page())
    const isLeaving = dialog.type() === 'beforeunload'
    const plan = isLeaving ? { accept: true } : tab?.dialogPlan
    if (tab && !isLeaving) tab.dialogPlan = undefined
    this.events.dialog(`${dialog.type()} ${plan?.accept ? 'accepted' : 'dismissed'}: ${dialog.message()}`)
    // The dialog may have closed with its page.
    await (plan?.accept ? dialog.accept(plan.text) : dialog.dismiss()).catch(() => {})
  }
}

/** The error for a missing tab; its hint lists the open ones. */
export function noTab(id: string | undefined, known: readonly string[]): ToolError {
  return new ToolError('NOT_FOUND', id === undefined ? 'No tab is open.' : `Tab ${JSON.stringify(id)} not found.`, {
    hint: known.length > 0 ? `Open tabs: ${known.join(', ')}.` : 'Open a page first, with action open.',
  })
}

/** Maximum number of connections that are recorded for one call. */
const MAX_RECORDED = 200
const MAX_REMEMBERED = 500
const REFUSED = 'refused: '

/** What the pages of a run may reach: what policy allows the latest call without approval, and the hosts it navigated to. */
export class RunNetwork implements ProgramNetwork {
  readonly #events: PageEventQueue
  readonly #visited = new Set<string>()
  readonly #refused = new Map<string, string>()
  /** How many requests were refused so far. */
  refusals = 0
  lastRefusal = ''
  #call: FeatureCall
  #recorded = 0

  constructor(call: FeatureCall, events: PageEventQueue) {
    this.#call = call
    this.#events = events
  }

  /** Judges further requests of the pages with the rights of this call. */
  judgeAs(call: FeatureCall): void {
    if (call !== this.#call) this.#recorded = 0
    this.#call = call
  }

  /** Adds a page that a call may visit. A CONNECT tunnel shows no path, so for HTTPS the host is allowed. */
  visit({ protocol, host }: URL): void {
    if (protocol === 'https:') this.#visited.add(host)
  }

  /** Why a URL was refused, if it was. */
  refusal(url: string): string | undefined {
    if (!URL.canParse(url)) return undefined
    const { protocol, href, origin } = new URL(url)
    return this.#refused.get(protocol === 'https:' ? `${origin}/` : href.replace(/#.*$/s, ''))
  }

  readonly permits = (url: string): void => {
    const { protocol, host } = new URL(url)
    if (protocol === 'https:' && this.#visited.has(host)) return
    const verdict = this.#call.allows('network', url)
    if (verdict.ok) return
    throw new ToolError('POLICY_DENIED', `${host}: ${verdict.why}.`, {
      hint: 'Have the owner allow network on this host by a rule.',
    })
  }

  readonly onConnection = (url: string, outcome: string): void => {
    if (outcome.startsWith(REFUSED)) this.#note(url, outcome.slice(REFUSED.length))
    this.#recorded += 1
    if (this.#recorded > MAX_RECORDED) return
    this.#call.recordConnection(url, outcome)
    if (this.#recorded === MAX_RECORDED) this.#call.recordConnection(url, 'and further ones, which are not listed')
  }

  #note(url: string, why: string): void {
    if (this.#refused.size >= MAX_REMEMBERED) this.#refused.clear()
    this.#refused.set(url, why)
    this.refusals += 1
    this.lastRefusal = why
    this.#events.refused(url, why)
  }
}
