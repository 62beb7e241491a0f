import { ToolError } from '@tool-hub/core'
import type { CDPSession, ConsoleMessage, Download, Locator, Page, Request } from 'playwright-core'
import type { ConsoleLine, PageEvents } from '../types.ts'

const MAX_LINES = 200
const MAX_CHARS = 500
const MAX_URL_CHARS = 2_000
const TITLE_MS = 5_000
const MAX_TITLE_CHARS = 300
const REF = /^(f\d{1,6})?e\d{1,9}$/
const MAX_REPORTED = 5
const MAX_EVENT_CHARS = 300
/** A page may open any number of windows between two actions. */
const MAX_OPENED = 50
const LEVELS: ReadonlyMap<string, ConsoleLine['level']> = new Map([
  ['error', 'error'],
  ['assert', 'error'],
  ['warning', 'warning'],
  ['debug', 'debug'],
])

/** One page of a run with its console output. */
export class Tab {
  readonly id: string
  readonly page: Page
  /** Lines of the console that are no longer kept. */
  dropped = 0
  isCrashed = false
  /** Gets the next download of this page; others are stopped. */
  onDownload: ((download: Download) => void) | undefined
  /** The answer to the next dialog. */
  dialogPlan: { readonly accept: boolean; readonly text?: string } | undefined
  readonly #lines: ConsoleLine[] = []
  readonly #open = new Set<Request>()
  #session: Promise<CDPSession> | undefined

  constructor(id: string, page: Page) {
    this.id = id
    this.page = page
    page.on('console', (message) => this.keep(levelOf(message), message.text()))
    page.on('pageerror', (error) => this.keep('error', String(error?.message ?? error)))
    page.on('crash', () => {
      this.isCrashed = true
    })
    page.on('request', (request) => this.#open.add(request))
    for (const event of ['requestfinished', 'requestfailed'] as const) {
      page.on(event as 'requestfinished', (request) => this.#open.delete(request))
    }
  }

  get isGone(): boolean {
    return this.isCrashed || this.page.isClosed()
  }

  /** Requests that have no answer yet. */
  get openRequests(): number {
    return this.#open.size
  }

  /** The newest last. */
  lines({ limit, onlyErrors }: { readonly limit: number; readonly onlyErrors: boolean }): readonly ConsoleLine[] {
    return this.#lines.filter(({ level }) => !onlyErrors || level === 'error').slice(-limit)
  }

  /** The current URL, cut: a page can make it arbitrarily long. */
  url(): string {
    return this.page.url().slice(0, MAX_URL_CHARS)
  }

  /** The title; empty if the page is too busy to return it. */
  async title(): Promise<string> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, TITLE_MS, '')
    })
    const title = await Promise.race([this.page.title().catch(() => ''), late])
    clearTimeout(timer)
    return title.slice(0, MAX_TITLE_CHARS)
  }

  /** The DevTools protocol of the page. */
  session(): Promise<CDPSession> {
    this.#session ??= this.page
      .context()
      .newCDPSession(this.page)
      .then(async (session) => {
        await session.send('Performance.enable')
        return session
      })
    return this.#session
  }

  /** The element of a ref; throws `CONFLICT` if the page no longer has it. */
  async element(ref: string): Promise<Locator> {
    if (!REF.test(ref)) {
      throw new ToolError('INPUT_SCHEMA_INVALID', `${JSON.stringify(ref.slice(0, 40))} is not a ref of a snapshot.`, {
        hint: 'A ref looks like e12 or f1e12; take a snapshot to get them.',
      })
    }
    const locator = this.page.getByRef(ref)
    // `count` throws if the frame is gone.
    if ((await locator.count().catch(() => 0)) > 0) return locator
    throw new ToolError('CONFLICT', `The element ${ref} is not on the page any more.`, {
      hint: 'The page has changed: take a new snapshot and use its refs.',
    })
  }

  /** Adds a line to the console of the page. */
  keep(level: ConsoleLine['level'], text: string): void {
    this.#lines.push({ level, text: text.slice(0, MAX_CHARS) })
    if (this.#lines.length <= MAX_LINES) return
    this.#lines.shift()
    this.dropped += 1
  }
}

function levelOf(message: ConsoleMessage): ConsoleLine['level'] {
  return LEVELS.get(message.type()) ?? 'info'
}

/** Collects what happens in the pages of a run; the next action reports each event once. */
export class PageEventQueue {
  #dialogs: string[] = []
  #refused: string[] = []
  #refusedCount = 0
  #opened: string[] = []
  #popupsClosed = 0
  #downloadsStopped = 0

  dialog(words: string): void {
    if (this.#dialogs.length < MAX_REPORTED) this.#dialogs.push(words.slice(0, MAX_EVENT_CHARS))
  }

  refused(url: string, why: string): void {
    this.#refusedCount += 1
    const line = `${url.slice(0, MAX_EVENT_CHARS)}: ${why.slice(0, MAX_EVENT_CHARS)}`
    if (this.#refused.length < MAX_REPORTED && !this.#refused.includes(line)) this.#refused.push(line)
  }

  opened(tab: string): void {
    if (this.#opened.length < MAX_OPENED) this.#opened.push(tab)
  }

  popupClosed(): void {
    this.#popupsClosed += 1
  }

  downloadStopped(): void {
    this.#downloadsStopped += 1
  }

  /** Returns all events and clears the queue. */
  take(): PageEvents {
    const events: PageEvents = {
      ...(this.#dialogs.length > 0 && { dialogs: this.#dialogs }),
      ...(this.#refusedCount > 0 && { refused: this.#refused, refusedCount: this.#refusedCount }),
      ...(this.#opened.length > 0 && { opened: this.#opened }),
      ...(this.#popupsClosed > 0 && { popupsClosed: this.#popupsClosed }),
      ...(this.#downloadsStopped > 0 && { downloadsStopped: this.#downloadsStopped }),
    }
    this.#dialogs = []
    this.#refused = []
    this.#opened = []
    this.#refusedCount = this.#popupsClosed = this.#downloadsStopped = 0
    return events
  }
}
