import { type FeatureCall, messageOf, ToolError, throwIfAborted } from '@tool-hub/core'
import type { BrowserPool } from './browser-pool.ts'
import type { Tab } from './page/tab.ts'
import type { ActionLimits } from './page/take-snapshot.ts'
import { noTab, type RunBrowser } from './run-browser.ts'
import type { InTab, PageState } from './types.ts'

/** What an action is. */
export interface Action {
  /** The name that policy rules use: `click`. */
  readonly name: string
  /** Whether it may have side effects, in the page or elsewhere. */
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
export type Perform = <T extends object>(
  action: Action,
  work: (with_: ActionContext) => Promise<T>,
) => Promise<PageState & T>

/** The tab that an action opens for itself. */
export const NEW_TAB = 'new'

const GRACE_MS = 2_000

/** Runs actions for a call: checks policy, records side effects, applies timeout and signal, and marks the result as untrusted. */
export function performFor(call: FeatureCall, pool: BrowserPool, maxMs: number): Perform {
  return async (action, work) => {
    const { at } = action
    const timeoutMs = Math.min(at.timeoutMs ?? maxMs, maxMs)
    call.permits('browser', action.name)
    if (at.tab !== NEW_TAB && !pool.has(call.run)) throw noTab(at.tab, [])
    if (action.isEffect) await call.beforeEffect()
    const signal = call.signal()
    throwIfAborted(signal)
    return pool.use(async (chromium) => {
      const run = await pool.runOf(chromium, call)
      throwIfAborted(signal)
      const tab = at.tab === NEW_TAB ? await run.newTab() : run.tab(at.tab)
      try {
        const working = work({ tab, run, signal, timeout: timeoutMs })
        const result = await untilStopped(working, signal, { timeoutMs, action: action.name })
        call.markUntrusted(tab.url())
        return { ...(await stateOf(tab, run)), ...result }
      } catch (error) {
        throwIfAborted(signal)
        call.markUntrusted(tab.url())
        const isBrowserGone = !chromium.browser.isConnected()
        throw toPageError(error, { action: action.name, timeoutMs, isBrowserGone, isTabGone: tab.isGone })
      }
    })
  }
}

/** The current state of a tab, with the events since the last action. */
async function stateOf(tab: Tab, run: RunBrowser): Promise<PageState> {
  const title = await tab.title()
  return { tab: tab.id, url: tab.url(), title, ...run.events.take() }
}

/** Rejects on timeout or abort even if the work ignores the signal; that work ends with its own timeout, and the tab stays. */
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

/** The action that failed, for its error message. */
interface Attempt {
  /** `click`, `navigate`. */
  readonly action: string
  readonly timeoutMs: number
  /** The browser is gone. */
  readonly isBrowserGone: boolean
  /** The page of the tab has crashed, or was closed. */
  readonly isTabGone: boolean
}

/** What Playwright reports while it waits for an element, and how it is worded for a model. */
const OBSTACLES: ReadonlyArray<readonly [RegExp, string]> = [
  [/intercepts pointer events/, 'another element covers it'],
  [/element is not visible/, 'the element is not visible'],
  [/element is not enabled/, 'the element is disabled'],
  [/element is not editable/, 'the element cannot be edited'],
  [/element is not stable/, 'the element keeps moving'],
  [/outside of the viewport/, 'the element is outside of what can be seen'],
  [/did not find some options/, 'the list has no such option'],
  [/Unknown key/, 'this key does not exist'],
  [/not an <input>|is not an? .*element|not a select/i, 'the element is of another kind'],
]

/** Turns an error of Playwright into an expected failure whose message contains no text of the page. */
export function toPageError(error: unknown, attempt: Attempt): ToolError {
  if (ToolError.is(error)) return error
  const { action, timeoutMs } = attempt
  if (attempt.isBrowserGone) return browserGone(error)
  const message = messageOf(error)
  if (attempt.isTabGone || /Target (page|crashed)|has been closed|Page crashed/i.test(message)) return tabGone(error)
  const obstacle = OBSTACLES.find(([words]) => words.test(message))?.[1]
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new ToolError(
      'TIMEOUT',
      `${action} did not finish within ${timeoutMs} ms${obstacle ? `: ${obstacle}` : ''}.`,
      {
        hint: 'Take a new snapshot and see what the page shows now; wait for what is missing, or use another element.',
        cause: error,
      },
    )
  }
  const network = /net::(ERR_[A-Z_]+)/.exec(message)?.[1]
  if (network !== undefined) return unreachable(action, network, error)
  return new ToolError('EXEC_FAILED', `${action} failed${obstacle ? `: ${obstacle}` : ''}.`, {
    hint: 'Take a new snapshot and check the element and the values.',
    details: { message: message.slice(0, 2_000) },
    cause: error,
  })
}

/** The error for a browser that crashed during an action. */
export function browserGone(cause?: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', 'The browser crashed; the next call starts a new one.', {
    hint: 'Open the page again: tabs, cookies and what was typed are gone.',
    cause,
  })
}

function tabGone(cause: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', 'The page crashed or was closed in the middle of the action.', {
    hint: 'Look at the tabs, and open the page again.',
    cause,
  })
}

function unreachable(action: string, code: string, cause: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', `${action} failed: the browser says ${code}.`, {
    hint: 'Check the address; if the server is down, try again later.',
    details: { code },
    cause,
  })
}
