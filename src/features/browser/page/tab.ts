import type { CDPSession, ConsoleMessage, Download, Locator, Page, Request } from 'playwright-core'
import { ToolError } from '../../../core/index.ts'
import type { ConsoleLine } from '../types.ts'

const MAX_LINES = 200
const MAX_CHARS = 500
const MAX_URL_CHARS = 2_000
const TITLE_MS = 5_000
const MAX_TITLE_CHARS = 300
const REF = /^(f\d{1,6})?e\d{1,9}$/
const LEVELS: ReadonlyMap<string, ConsoleLine['level']> = new Map([
  ['error', 'error'],
  ['assert', 'error'],
  ['warning', 'warning'],
  ['debug', 'debug'],
])

/** One page of a run, with what it has said. */
export class Tab {
  readonly id: string
  readonly page: Page
  /** Lines of the console that are no longer kept. */
  dropped = 0
  isCrashed = false
  /** Gets the next download of this page; others are stopped. */
  onDownload: ((download: Download) => void) | undefined
  /** What the next dialog is answered. */
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

  /** Where it is; a page makes its address as long as it likes. */
  url(): string {
    return this.page.url().slice(0, MAX_URL_CHARS)
  }

  /** The title, unless the page is too busy to say it. */
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

  /** The element of a ref; CONFLICT when the page has no such element any more. */
  async element(ref: string): Promise<Locator> {
    if (!REF.test(ref)) {
      throw new ToolError('INPUT_SCHEMA_INVALID', `${JSON.stringify(ref.slice(0, 40))} is no ref of a snapshot.`, {
        hint: 'A ref looks like e12 or f1e12; take a snapshot to get them.',
      })
    }
    const locator = this.page.getByRef(ref)
    // A frame that is gone makes it throw.
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
