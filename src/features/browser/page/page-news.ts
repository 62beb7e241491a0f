import type { PageEvents } from '../types.ts'

const MAX_REPORTED = 5
const MAX_CHARS = 300
/** A page may open and close windows for as long as nobody looks. */
const MAX_TABS = 50

/** What happens in the pages of a run beside its actions; each thing is told with the next action, and once. */
export class PageEventQueue {
  #dialogs: string[] = []
  #refused: string[] = []
  #refusedCount = 0
  #opened: string[] = []
  #popupsClosed = 0
  #downloadsStopped = 0

  dialog(words: string): void {
    if (this.#dialogs.length < MAX_REPORTED) this.#dialogs.push(words.slice(0, MAX_CHARS))
  }

  refused(url: string, why: string): void {
    this.#refusedCount += 1
    const line = `${url.slice(0, MAX_CHARS)}: ${why.slice(0, MAX_CHARS)}`
    if (this.#refused.length < MAX_REPORTED && !this.#refused.includes(line)) this.#refused.push(line)
  }

  opened(tab: string): void {
    if (this.#opened.length < MAX_TABS) this.#opened.push(tab)
  }

  popupClosed(): void {
    this.#popupsClosed += 1
  }

  downloadStopped(): void {
    this.#downloadsStopped += 1
  }

  /** All of it; after this there is none. */
  take(): PageEvents {
    const news: PageEvents = {
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
    return news
  }
}
