import { EventEmitter } from 'node:events'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { Tab } from './tab.ts'

/** A page that says what a test lets it say; of a real one no limit here could be reached in a test. */
function openTab({
  url = 'http://a.example/',
  title = 'A',
  count = 1,
}: {
  url?: string
  title?: string
  count?: number
} = {}) {
  const state = { isClosed: false }
  const asked: string[] = []
  const page = Object.assign(new EventEmitter(), {
    url: () => url,
    title: async () => title,
    isClosed: () => state.isClosed,
    getByRef(ref: string) {
      asked.push(ref)
      return { count: async () => (count < 0 ? Promise.reject(new Error('no frame')) : count) }
    },
  })
  return { tab: new Tab('t1', page as unknown as Page), page, state, asked }
}

const message = (type: string, text: string) => ({ type: () => type, text: () => text })
const ALL = { limit: 999, onlyErrors: false }

describe('the console of a page', () => {
  it('has a level for each kind of line, and the errors of the page', () => {
    const { tab, page } = openTab()
    for (const type of ['log', 'error', 'assert', 'warning', 'debug', 'table'])
      page.emit('console', message(type, type))
    page.emit('pageerror', new Error('broken'))
    page.emit('pageerror', 'thrown')
    const levels = tab.lines(ALL).map(({ level, text }) => `${level} ${text}`)
    expect(levels).toEqual([
      ...['info log', 'error error', 'error assert', 'warning warning', 'debug debug', 'info table'],
      ...['error broken', 'error thrown'],
    ])
    expect(tab.lines({ limit: 2, onlyErrors: true }).map(({ text }) => text)).toEqual(['broken', 'thrown'])
    expect(tab.lines({ limit: 999, onlyErrors: true })).toHaveLength(4)
  })

  it('keeps the last 200 lines of 500 characters, and counts the others', () => {
    const { tab } = openTab()
    for (let line = 1; line <= 200; line += 1) tab.keep('info', String(line))
    expect([tab.dropped, tab.lines(ALL).length]).toEqual([0, 200])
    tab.keep('info', 'x'.repeat(501))
    tab.keep('info', 'last')
    expect([tab.dropped, tab.lines(ALL).length, tab.lines(ALL)[0]?.text]).toEqual([2, 200, '3'])
    expect(tab.lines(ALL).at(-2)?.text).toBe('x'.repeat(500))
  })
})

describe('a tab', () => {
  it('tells where it is, and shortens what a page makes too long', async () => {
    const { tab } = openTab({ url: `http://a.example/${'u'.repeat(3_000)}`, title: 't'.repeat(400) })
    expect(tab.url()).toBe(`http://a.example/${'u'.repeat(3_000)}`.slice(0, 2_000))
    expect(await tab.title()).toBe('t'.repeat(300))
    expect(tab.id).toBe('t1')
  })

  it('is gone when it has crashed or was closed', () => {
    const { tab, page, state } = openTab()
    expect([tab.isGone, tab.isCrashed]).toEqual([false, false])
    state.isClosed = true
    expect(tab.isGone).toBe(true)
    state.isClosed = false
    page.emit('crash')
    expect([tab.isGone, tab.isCrashed]).toEqual([true, true])
  })

  it('counts the requests without an answer', () => {
    const { tab, page } = openTab()
    const requests = [{}, {}, {}]
    for (const request of requests) page.emit('request', request)
    expect(tab.openRequests).toBe(3)
    page.emit('requestfinished', requests[0])
    page.emit('requestfailed', requests[1])
    expect(tab.openRequests).toBe(1)
  })
})

describe('an element', () => {
  it.each(['e1', 'e123456789', 'f1e2', 'f123456e1'])('may be %s', async (ref) => {
    const { tab, asked } = openTab()
    await tab.element(ref)
    expect(asked).toEqual([ref])
  })

  it.each(['', 'e', '1', 'e1234567890', 'f1', 'fe1', 'f1234567e1', 'xe1', 'e1x', ' e1', 'e1\n', 'e1 >> css=x'])(
    'is never %j',
    async (ref) => {
      const { tab, asked } = openTab()
      await expect(tab.element(ref)).rejects.toMatchObject({
        code: 'INPUT_SCHEMA_INVALID',
        message: `${JSON.stringify(ref)} is not a ref of a snapshot.`,
        fix: { hint: 'A ref looks like e12 or f1e12; take a snapshot to get them.' },
      })
      expect(asked).toEqual([])
    },
  )

  it('is named with 40 characters at most, and missing where the page has it no more', async () => {
    const { tab } = openTab({ count: 0 })
    await expect(tab.element('x'.repeat(41))).rejects.toThrow(`"${'x'.repeat(40)}" is not a ref`)
    for (const count of [0, -1]) {
      await expect(openTab({ count }).tab.element('e1')).rejects.toMatchObject({
        code: 'CONFLICT',
        message: 'The element e1 is not on the page any more.',
        fix: { hint: 'The page has changed: take a new snapshot and use its refs.' },
      })
    }
  })
})
