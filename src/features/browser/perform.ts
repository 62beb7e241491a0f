import { type FeatureCall, ToolError } from '../../core/index.ts'
import { throwIfAborted } from '../../sandbox/index.ts'
import type { BrowserPool } from './browser-pool.ts'
import { toPageError } from './page/page-error.ts'
import type { Tab } from './page/tab.ts'
import type { ActionLimits } from './page/take-snapshot.ts'
import { noTab, type RunBrowser } from './run-browser.ts'
import type { InTab, PageState } from './types.ts'

/** What an action is. */
export interface Action {
  /** The word that policy judges: `click`. */
  readonly name: string
  /** It may change something, in the page or elsewhere. */
  readonly isEffect: boolean
  /** In which tab, `new` for a new one; and how long it may take. */
  readonly at: InTab
}

/** What an action works with. */
export interface ActionContext extends ActionLimits {
  readonly tab: Tab
  readonly run: RunBrowser
}

/** Does one action in a page for a call. */
export type Perform = <T extends object>(action: Action, work: (with_: ActionContext) => Promise<T>) => Promise<PageState & T>

/** The tab that an action opens for itself. */
export const NEW_TAB = 'new'

const GRACE_MS = 2_000

/** Binds actions to a call: permitted, on record, under its time limit and signal, labelled as content from outside. */
export function performFor(call: FeatureCall, house: BrowserPool, maxMs: number): Perform {
  return async (action, work) => {
    const { at } = action
    const timeoutMs = Math.min(at.timeoutMs ?? maxMs, maxMs)
    call.permits('browser', action.name)
    if (at.tab !== NEW_TAB && !house.has(call.run)) throw noTab(at.tab, [])
    if (action.isEffect) await call.beforeEffect()
    const signal = call.signal()
    throwIfAborted(signal)
    return house.use(async (chromium) => {
      const run = await house.runOf(chromium, call)
      throwIfAborted(signal)
      const tab = at.tab === NEW_TAB ? await run.newTab() : run.tab(at.tab)
      try {
        const working = work({ tab, run, signal, timeout: timeoutMs })
        const result = await untilStopped(working, signal, { timeoutMs, action: action.name })
        call.markUntrusted()
        return { ...(await stateOf(tab, run)), ...result }
      } catch (error) {
        throwIfAborted(signal)
        call.markUntrusted()
        const isBrowserGone = !chromium.browser.isConnected()
        throw toPageError(error, { action: action.name, timeoutMs, isBrowserGone, isTabGone: tab.isGone })
      }
    })
  }
}

/** Where a tab is now, and what has happened beside. */
async function stateOf(tab: Tab, run: RunBrowser): Promise<PageState> {
  const title = await tab.title()
  return { tab: tab.id, url: tab.url(), title, ...run.news.take() }
}

/** What does not hear of the signal is left behind; it ends with its own time limit, and the tab stays. */
async function untilStopped<T>(
  work: Promise<T>,
  signal: AbortSignal,
  { timeoutMs, action }: { readonly timeoutMs: number; readonly action: string },
): Promise<T> {
  let end = () => {}
  const stopped = new Promise<never>((_, reject) => {
    const late = () =>
      reject(
        new ToolError('TIMEOUT', `${action} did not finish within ${timeoutMs} ms: the page does not react.`, {
          hint: 'Close the tab, or wait and try again.',
        }),
      )
    const timer = setTimeout(late, timeoutMs + GRACE_MS)
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  })
  work.catch(() => {})
  return Promise.race([work, stopped]).finally(end)
}
