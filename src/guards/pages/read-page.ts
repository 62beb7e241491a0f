import type { ReadablePage } from '../../contracts/handles.ts'
import { lazyModule } from '../../disk/lazy-module.ts'

/** Threads and parsers are loaded by those who read pages only. */
const loadWorkers = lazyModule(async () => (await import('./page-workers.ts')).createPageWorkers())

/** How to read a page. */
export interface ReadPageOptions {
  /** Where it came from; its links are relative to it. */
  readonly url: string
  readonly as: 'markdown' | 'text'
  readonly signal: AbortSignal
  /** 10 seconds unless said; waiting for other pages is not counted. */
  readonly timeoutMs?: number
}

/** Longer pages are read up to here. */
const MAX_HTML_CHARS = 5_000_000

/** What a person would read of an HTML page, its article when it has one. Never works on the calling thread. */
export async function readPage(
  html: string,
  { url, as, signal, timeoutMs = 10_000 }: ReadPageOptions,
): Promise<ReadablePage> {
  const pool = await loadWorkers()
  return pool.read({ html: html.slice(0, MAX_HTML_CHARS), url, as }, { signal, timeoutMs })
}
