import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { browserGone, toPageError } from './perform.ts'

const ATTEMPT = { action: 'click', timeoutMs: 30, isBrowserGone: false, isTabGone: false }
const timeout = (message: string) => Object.assign(new Error(message), { name: 'TimeoutError' })
const OBSTACLES = [
  ['<div> intercepts pointer events', 'another element covers it'],
  ['element is not visible', 'the element is not visible'],
  ['element is not enabled', 'the element is disabled'],
  ['element is not editable', 'the element cannot be edited'],
  ['element is not stable', 'the element keeps moving'],
  ['Element is outside of the viewport', 'the element is outside of what can be seen'],
  ['did not find some options', 'the list has no such option'],
  ['Unknown key: "X"', 'this key does not exist'],
  ['Error: Node is not an HTMLInputElement', 'the element is of another kind'],
  ['Element is not an <input>', 'the element is of another kind'],
] as const

describe('a failure of a page', () => {
  it.each(OBSTACLES)('for %j says what is in the way', (message, obstacle) => {
    expect(toPageError(timeout(message), ATTEMPT)).toMatchObject({
      code: 'TIMEOUT',
      message: `click did not finish within 30 ms: ${obstacle}.`,
      fix: {
        hint: 'Take a new snapshot and see what the page shows now; wait for what is missing, or use another element.',
      },
    })
    expect(toPageError(new Error(message), ATTEMPT)).toMatchObject({
      code: 'EXEC_FAILED',
      message: `click failed: ${obstacle}.`,
      fix: { hint: 'Take a new snapshot and check the element and the values.' },
      details: { message },
    })
  })

  it('holds nothing that the page has written, but in its details', () => {
    const words = `the page says ${'x'.repeat(3_000)}`
    const error = toPageError(new Error(words), ATTEMPT)
    expect(error).toMatchObject({ message: 'click failed.', details: { message: words.slice(0, 2_000) } })
    expect(toPageError(timeout('anything'), ATTEMPT).message).toBe('click did not finish within 30 ms.')
  })

  it('says that a server was not reached', () => {
    expect(toPageError(new Error('page.goto: net::ERR_NAME_NOT_RESOLVED at x'), ATTEMPT)).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'click failed: the browser says ERR_NAME_NOT_RESOLVED.',
      fix: { hint: 'Check the address; if the server is down, try again later.' },
      details: { code: 'ERR_NAME_NOT_RESOLVED' },
    })
  })

  it.each(['Target page, context or browser has been closed', 'Target crashed', 'Page crashed', 'x has been closed'])(
    'says for %j that the page has gone',
    (message) => {
      const gone = {
        code: 'UPSTREAM_ERROR',
        message: 'The page crashed or was closed in the middle of the action.',
        fix: { hint: 'Look at the tabs, and open the page again.' },
      }
      expect(toPageError(new Error(message), ATTEMPT)).toMatchObject(gone)
      expect(toPageError(new Error('x'), { ...ATTEMPT, isTabGone: true })).toMatchObject(gone)
    },
  )

  it('says that the browser has gone, and leaves an expected failure as it is', () => {
    const gone = {
      code: 'UPSTREAM_ERROR',
      message: 'The browser crashed; the next call starts a new one.',
      fix: { hint: 'Open the page again: tabs, cookies and what was typed are gone.' },
    }
    expect(toPageError(new Error('x'), { ...ATTEMPT, isBrowserGone: true, isTabGone: true })).toMatchObject(gone)
    expect(browserGone()).toMatchObject(gone)
    const known = new ToolError('CONFLICT', 'x')
    expect(toPageError(known, { ...ATTEMPT, isBrowserGone: true })).toBe(known)
  })
})
