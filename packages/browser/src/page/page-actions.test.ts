import { ToolError } from '@tool-hub/core/errors'
import type { FeatureCall } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { arrive, goTo } from '../create-browser.ts'
import type { ActionContext } from '../perform.ts'
import { clickElement, fillFields, pressKey, typeInto, waitForPage } from './element-actions.ts'
import type { Tab } from './tab.ts'
import { takeSnapshot } from './take-snapshot.ts'

const NEVER = new AbortController().signal
const PATIENCE = { timeout: 5_000, signal: NEVER }

/** Notes every call of an element and of the keyboard. */
function working({ tagName = 'INPUT' } = {}) {
  const done: [string, ...unknown[]][] = []
  const note =
    (name: string) =>
    async (...words: unknown[]) =>
      void done.push([name, ...words])
  const names = ['click', 'dblclick', 'pressSequentially', 'focus', 'press', 'setChecked', 'selectOption', 'fill']
  const element = {
    ...Object.fromEntries(names.map((name) => [name, note(name)])),
    evaluate: async () => tagName,
  }
  const tab = {
    element: async () => element,
    page: { keyboard: { insertText: note('insertText'), press: note('keyboard.press') } },
  }
  return { work: { tab, ...PATIENCE } as unknown as ActionContext, done }
}

describe('what is done with an element', () => {
  it('is a click, by default once and with the left button', async () => {
    const { work, done } = working()
    await clickElement(work, { ref: 'e1' })
    await clickElement(work, { ref: 'e1', isDouble: true, button: 'right', modifiers: ['Shift'] })
    expect(done).toEqual([
      ['click', { ...PATIENCE, button: 'left', modifiers: [] }],
      ['dblclick', { ...PATIENCE, button: 'right', modifiers: ['Shift'] }],
    ])
  })

  it('is typing, key by key up to 500 characters, and as a whole after that', async () => {
    const { work, done } = working()
    await typeInto(work, { ref: 'e1', text: 'x'.repeat(500) })
    await typeInto(work, { ref: 'e1', text: 'y'.repeat(501), isSubmitted: true })
    expect(done).toEqual([
      ['pressSequentially', 'x'.repeat(500), PATIENCE],
      ['focus', PATIENCE],
      ['insertText', 'y'.repeat(501)],
      ['press', 'Enter', PATIENCE],
    ])
  })

  it('is a key, in it or wherever the focus is', async () => {
    const { work, done } = working()
    await pressKey(work, { key: 'A', ref: 'e1' })
    await pressKey(work, { key: 'B' })
    expect(done).toEqual([
      ['press', 'A', PATIENCE],
      ['keyboard.press', 'B'],
    ])
  })

  it('is filling it by its kind', async () => {
    const text = working()
    await fillFields(text.work, {
      fields: [
        { ref: 'e1', value: 'a' },
        { ref: 'e2', value: true },
      ],
    })
    const list = working({ tagName: 'SELECT' })
    await fillFields(list.work, { fields: [{ ref: 'e1', value: 'b' }] })
    expect([...text.done, ...list.done]).toEqual([
      ['fill', 'a', PATIENCE],
      ['setChecked', true, PATIENCE],
      ['selectOption', 'b', PATIENCE],
    ])
  })

  it('is waiting, no longer than the time of the call, and not after it was stopped', async () => {
    const clock = fakeClock()
    const stopping = new AbortController()
    const work = { ...working().work, timeout: 100, signal: stopping.signal } as ActionContext
    let over = 0
    const count = () => {
      over += 1
    }
    void waitForPage(work, { ms: 50 }, clock).then(count)
    void waitForPage(work, { ms: 900 }, clock).then(count)
    await clock.advance(50)
    expect(over).toBe(1)
    await clock.advance(50)
    expect(over).toBe(2)
    void waitForPage(work, { ms: 90 }, clock).then(count)
    await clock.advance(1)
    stopping.abort()
    await clock.advance(0)
    expect([over, clock.waiting]).toEqual([3, 0])
  })
})

describe('a navigation', () => {
  const going = ({
    refusals = [0, 0],
    refusal = undefined as string | undefined,
    state = 'interactive' as unknown,
  } = {}) => {
    const [before, after] = refusals
    let looked = 0
    const visited: string[] = []
    const network = {
      get refusals() {
        looked += 1
        return looked === 1 ? before : after
      },
      lastRefusal: 'a rule says no',
      refusal: () => refusal,
      visit: ({ href }: URL) => void visited.push(href),
    }
    const tab = {
      openRequests: 3,
      page: { evaluate: async () => state, goto: async () => ({ url: () => 'http://a.example/', status: () => 204 }) },
    }
    return { work: { tab, run: { network }, ...PATIENCE } as unknown as ActionContext, visited }
  }
  const failing =
    (message: string, name = 'Error') =>
    async () =>
      Promise.reject(Object.assign(new Error(message), { name }))

  it('gives the status of the page, and tells where it went', async () => {
    const { work, visited } = going()
    expect(await goTo(work, 'http://a.example/x')).toEqual({ status: 204 })
    expect(await goTo(work, 'about:blank')).toEqual({ status: 204 })
    expect(visited).toEqual(['http://a.example/x'])
    expect(await arrive(work, async () => null)).toEqual({})
    await expect(async () => goTo(work, 'file:///etc/passwd')).rejects.toMatchObject({ code: 'HTTP_DISALLOWED_HOST' })
  })

  it.each([
    'ERR_TUNNEL_CONNECTION_FAILED',
    'ERR_PROXY_CONNECTION_FAILED',
    'ERR_SSL_PROTOCOL_ERROR',
    'ERR_EMPTY_RESPONSE',
  ])('that ends with %s was refused, where the proxy has refused something', async (code) => {
    const refused = {
      code: 'HTTP_DISALLOWED_HOST',
      message: 'The page was refused: a rule says no',
      fix: { key: 'sandbox.network', hint: 'Use a host that the owner allows; sandbox.network names them.' },
    }
    await expect(arrive(going({ refusals: [1, 2] }).work, failing(`net::${code}`))).rejects.toMatchObject(refused)
    await expect(arrive(going({ refusals: [1, 1] }).work, failing(`net::${code}`))).rejects.toThrow(`net::${code}`)
    await expect(arrive(going({ refusals: [1, 2] }).work, failing('net::ERR_FAILED'))).rejects.toThrow('ERR_FAILED')
  })

  it('to a page that was refused, a download or a page that does not come says so', async () => {
    await expect(goTo(going({ refusal: 'no' }).work, 'http://a.example/')).rejects.toThrow('The page was refused: no')
    await expect(arrive(going().work, failing('Download is starting'))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The address is a download, not a page; it was stopped.',
      fix: { hint: 'Use core/http.downloadFile, or action download with the ref of the link.' },
    })
    const late = async (state: unknown) => {
      const { message } = await arrive(going({ state }).work, failing('x', 'TimeoutError')).catch((error) => error)
      return message.slice(0, message.indexOf(','))
    }
    const prefix = 'The page did not finish loading within 5000 ms: its document is'
    expect([await late('loading'), await late('interactive'), await late('complete'), await late('hacked')]).toEqual([
      ...[`${prefix} loading`, `${prefix} interactive`, `${prefix} complete`, `${prefix} not there yet`],
    ])
    await expect(arrive(going().work, failing('other'))).rejects.toThrow('other')
    const known = new ToolError('CONFLICT', 'own')
    await expect(arrive(going().work, async () => Promise.reject(known))).rejects.toBe(known)
  })
})

describe('a snapshot', () => {
  const snapshot = async ({
    text = '- a',
    nodes = 1,
    request = {},
    fails = [] as Error[],
    artifact = async (_: string) => ({}) as unknown,
  }) => {
    const looks: object[] = []
    const left = [...fails]
    const place = {
      ariaSnapshot: async (options: object) => {
        looks.push(options)
        const failure = left.shift()
        return failure ? Promise.reject(failure) : text
      },
    }
    const metrics = [{ name: 'Nodes', value: nodes }]
    const tab = { page: place, element: async () => place, session: async () => ({ send: async () => ({ metrics }) }) }
    const call = { artifact } as unknown as FeatureCall
    return { taken: await takeSnapshot(tab as unknown as Tab, request, PATIENCE, call), looks }
  }
  const late = Object.assign(new Error('late'), { name: 'TimeoutError' })

  it('is taken in two seconds, or in all the time there is where a frame does not come', async () => {
    const { taken, looks } = await snapshot({})
    expect(taken).toEqual({ text: '- a', chars: 3, isCut: false })
    expect(looks).toEqual([{ mode: 'ai', timeout: 2_000, signal: NEVER }])
    const again = await snapshot({ fails: [late], request: { depth: 3, ref: 'e1' } })
    expect(again.looks).toMatchObject([
      { timeout: 2_000, depth: 3 },
      { timeout: 5_000, depth: 3 },
    ])
    await expect(snapshot({ fails: [new Error('gone')] })).rejects.toThrow('gone')
  })

  it('is not taken of a page with more than 200000 nodes', async () => {
    await snapshot({ nodes: 200_000 })
    await expect(snapshot({ nodes: 200_001 })).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The page has 200001 nodes, the limit of a snapshot is 200000.',
      fix: { hint: 'Take a screenshot, or use evaluate to read the part that you need.' },
    })
  })

  it('has 20000 characters and 1500 lines at most, and keeps 4000000 characters as an artifact', async () => {
    const lines = (count: number) => Array(count).fill('- a').join('\n')
    expect((await snapshot({ text: lines(1_500) })).taken.isCut).toBe(false)
    expect((await snapshot({ text: lines(1_501) })).taken.isCut).toBe(true)
    const long = (length: number) => `${'x'.repeat(499)}\n`.repeat(length / 500)
    expect((await snapshot({ text: long(20_000) })).taken.isCut).toBe(false)
    expect((await snapshot({ text: `${long(20_000)}x` })).taken.isCut).toBe(true)
    const kept: number[] = []
    const artifact = async (text: string) => kept.push(text.length)
    await snapshot({ text: 'y'.repeat(4_000_001), artifact })
    expect(kept).toEqual([4_000_000])
    expect((await snapshot({ text: 'abcdef', request: { maxChars: 5 } })).taken.isCut).toBe(true)
  })

  it('is there without its artifact where artifacts have no place', async () => {
    const failing = (error: Error) =>
      snapshot({ text: 'ab', request: { maxChars: 1 }, artifact: async () => Promise.reject(error) })
    const { taken } = await failing(new ToolError('RECORDS_UNAVAILABLE', 'none'))
    expect(taken).not.toHaveProperty('artifact')
    await expect(failing(new ToolError('CONFLICT', 'other'))).rejects.toThrow('other')
  })
})
