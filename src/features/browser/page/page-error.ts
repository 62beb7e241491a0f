import { messageOf, ToolError } from '../../../core/index.ts'

/** What an action was about, for the words of its failure. */
export interface Attempt {
  /** `click`, `navigate`. */
  readonly action: string
  readonly timeoutMs: number
  /** The browser is gone. */
  readonly isBrowserGone: boolean
  /** The page of the tab has crashed, or was closed. */
  readonly isTabGone: boolean
}

/** What playwright says while it waits for an element, and what a model can do with it. */
const OBSTACLES: ReadonlyArray<readonly [RegExp, string]> = [
  [/intercepts pointer events/, 'another element covers it'],
  [/element is not visible/, 'the element is not visible'],
  [/element is not enabled/, 'the element is disabled'],
  [/element is not editable/, 'the element cannot be edited'],
  [/element is not stable/, 'the element keeps moving'],
  [/outside of the viewport/, 'the element is outside of what can be seen'],
  [/did not find some options/, 'the list has no such option'],
  [/Unknown key/, 'there is no such key'],
  [/not an <input>|is not an? .*element|not a select/i, 'the element is of another kind'],
]

/** An expected failure of a page, in words that hold nothing which the page has written. */
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

/** The browser has died in the middle of an action. */
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
