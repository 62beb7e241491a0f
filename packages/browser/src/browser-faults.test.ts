import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { privateFolder } from '@tool-hub/sandbox/exec'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servePages } from '../../../test/support/web-pages.ts'
import type { ToolResult } from '../../core/src/call.ts'
import { fakeClock } from '../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import type { BrowserOutput } from './tools/browser-schema.ts'

const STORM = `<title>storm</title><button onclick="for (let i = 0; i < 70; i++) open('/popup?' + i, 'w' + i, 'width=99')">Go</button>`
const PERMISSIONS = `Promise.all(['geolocation','notifications','camera','microphone','clipboard-read'].map(
  (name) => navigator.permissions.query({ name }).then(({ state }) => state, () => 'none')))`

const pages = {
  '/': '<title>Fine</title><h1>Fine</h1><button onclick="document.title+=1">Count</button>',
  '/cookie': '<script>document.title = document.cookie || "no cookie"; document.cookie = "a=secret"</script>',
  '/never': (_: unknown, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).write('<title>half</title><p>half a page'),
  '/giant':
    '<title>giant</title><script>for (let i = 0; i < 210_000; i++) document.head.append(new Comment())</script><p>x',
  '/storm': STORM,
  '/popup': '<title>popup</title>',
  '/busy': '<title>busy</title><button onclick="for (;;);">Hang</button>',
  '/crash': '<script>for (const all = []; ; ) all.push(new Array(1e5).fill(1.5))</script>',
  '/leave': '<script>onbeforeunload = () => "stay"</script><button>x</button>',
}

let web: Awaited<ReturnType<typeof servePages>>
let hub: TestHub
const clock = fakeClock()
const use = async (input: object, options?: object) =>
  (await hub.callDynamic('core/browser', input, options)) as ToolResult<BrowserOutput>
const open = (path: string, options?: object) => use({ action: 'open', url: `${web.base}${path}` }, options)
const closeTab = () => use({ action: 'close' })
/** Tells the server that it has begun, and never ends. */
const neverEnds = (name: string) => `fetch('/${name}').then(() => new Promise(() => {}))`
const folders = async () => (await readdir(privateFolder())).filter((name) => name.startsWith('browser-'))

beforeAll(async () => {
  web = await servePages(pages)
  hub = testHub({
    sandbox: { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
    browser: { timeoutMs: 60_000, tabs: 3, pageMemoryBytes: 64_000_000 },
    clock,
  })
  // The first page takes as long as the browser takes to start.
  await use({ action: 'start' })
})
afterAll(async () => {
  await hub.close()
  web.close()
})

describe('a page that', () => {
  it('never finishes loading is a TIMEOUT that says how far it came, and stays usable', async () => {
    const { error, status } = await use({ action: 'open', url: `${web.base}/never`, timeoutMs: 200 })
    expect(status).toBe('timeout')
    expect(error).toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringMatching(/within 200 ms: its document is (loading|not there yet), [01] requests/),
    })
    await use({ action: 'wait', text: 'half a page' })
    expect((await use({ action: 'snapshot' })).data?.snapshot?.text).toContain('half a page')
    expect((await use({ action: 'navigate', url: `${web.base}/` })).data?.title).toBe('Fine')
    await closeTab()
  })

  it('is far too large is refused by its number of nodes, and its picture is bounded', async () => {
    expect((await open('/giant')).data?.title).toBe('giant')
    expect((await use({ action: 'snapshot' })).error).toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: expect.stringMatching(/has 21\d{4} nodes, the limit of a snapshot is 200000/),
    })
    expect((await use({ action: 'screenshot', fullPage: true })).ok).toBe(true)
    await closeTab()
  })

  it('opens a storm of windows gets the tabs there are, and no more', async () => {
    const { data } = await open('/storm')
    const press = (key: string) => use({ action: 'press', tab: data!.tab, key })
    await press('Tab')
    await expect.poll(async () => (await press('Enter')).data?.popupsClosed, { interval: 10 }).toBeGreaterThan(0)
    const tabs = (await use({ action: 'tabs' })).data!.tabs!
    expect(tabs).toHaveLength(3)
    await Promise.all(tabs.map(({ tab }) => use({ action: 'close', tab })))
  })

  it('does not react any more makes actions fail in time; its tab can be closed', async () => {
    await open('/busy')
    await use({ action: 'press', key: 'Tab' })
    expect((await use({ action: 'press', key: 'Enter', timeoutMs: 100 })).error?.code).toBe('TIMEOUT')
    expect((await closeTab()).ok).toBe(true)
    await open('/')
    // The first expression of a tab opens a connection to it.
    await use({ action: 'evaluate', expression: '1' })
    const endless = await use({ action: 'evaluate', expression: 'for (;;);', timeoutMs: 100 })
    expect(endless.error).toMatchObject({ code: 'TIMEOUT', message: expect.stringMatching(/was ended/) })
    expect((await use({ action: 'evaluate', expression: '1 + 1' })).data?.value?.json).toBe('2')
    await closeTab()
  })

  it('crashes takes its tab along, and nobody waits for it', async () => {
    await open('/')
    const crashed = await use({ action: 'navigate', url: `${web.base}/crash` })
    expect(crashed.error).toMatchObject({ code: 'UPSTREAM_ERROR', message: expect.stringMatching(/^The page crashed/) })
    await expect.poll(async () => (await use({ action: 'tabs' })).data?.tabs).toEqual([])
    expect((await use({ action: 'snapshot' })).error?.code).toBe('NOT_FOUND')
  })

  it('asks to stay or to use the machine is not heard', async () => {
    await open('/leave')
    await use({ action: 'press', key: 'Tab' })
    expect((await use({ action: 'navigate', url: `${web.base}/` })).data?.title).toBe('Fine')
    const { data } = await use({ action: 'evaluate', expression: PERMISSIONS })
    expect(JSON.parse(data!.value!.json)).not.toContain('granted')
    await closeTab()
  })
})

describe('a call', () => {
  it('that is stopped ends immediately and leaves the tab usable', async () => {
    await open('/')
    const stopping = new AbortController()
    const waiting = use({ action: 'evaluate', expression: neverEnds('stopped') }, { signal: stopping.signal })
    await expect.poll(() => web.asked).toContain('GET /stopped')
    stopping.abort()
    expect((await waiting).status).toBe('aborted')
    expect((await use({ action: 'snapshot' })).data?.title).toBe('Fine')
  })

  it('shares one browser with others, sees nothing of other runs, and what a run leaves goes with it', async () => {
    const [one, two] = [{ run: 'one' }, { run: 'two' }]
    const { pid } = await hub.browser.status()
    const first = await Promise.all([open('/cookie', one), open('/cookie', two)])
    expect(first.map(({ data }) => [data?.tab, data?.title])).toEqual(Array(2).fill(['t1', 'no cookie']))
    expect((await hub.browser.status()).pid).toBe(pid)
    const again = await Promise.all([use({ action: 'reload' }, one), open('/cookie', two)])
    expect(again.map(({ data }) => data?.title)).toEqual(['a=secret', 'a=secret'])
    expect((await use({ action: 'tabs' }, one)).data?.tabs).toHaveLength(1)
    await hub.endRun('one')
    expect((await open('/cookie', one)).data).toMatchObject({ tab: 't1', title: 'no cookie' })
    await use({ action: 'stop' }, two)
    expect((await use({ action: 'tabs' }, two)).data?.tabs).toEqual([])
    expect((await open('/cookie', two)).data?.title).toBe('no cookie')
  })
})

describe('a picture of HTML', () => {
  it('reaches nothing, whatever the HTML says', async () => {
    const before = web.asked.length
    const html = `<body style="background:#f00"><img src="${web.base}/img"><script>window.n = 41; fetch('${web.base}/fetch').catch(() => { window.n += 1 })</script>`
    const script = `new Promise((resolve) => {
      const look = () => (window.n === 42 ? resolve({ n: window.n, origin: String(origin) }) : setTimeout(look, 5))
      look()
    })`
    const { png, json } = await hub.browser.render({ html, script, width: 40, height: 30 })
    expect(JSON.parse(json!)).toEqual({ n: 42, origin: 'null' })
    expect([Buffer.from(png).readUInt32BE(16), Buffer.from(png).readUInt32BE(20)]).toEqual([40, 30])
    expect(web.asked.length).toBe(before)
    const endless = hub.browser.render({ html: '<p>x', script: 'new Promise(() => {})', timeoutMs: 100 })
    await expect(endless).rejects.toThrow(expect.objectContaining({ code: 'TIMEOUT' }))
    const stopped = hub.browser.render({ html: '<p>x', signal: AbortSignal.abort() })
    await expect(stopped).rejects.toThrow(expect.objectContaining({ code: 'ABORTED' }))
  })
})

describe('the browser', () => {
  it('that is killed in mid-action is a typed error, and the next call has a new one', async () => {
    const { pid } = await hub.browser.status()
    const waiting = use({ action: 'evaluate', expression: neverEnds('killed') })
    await expect.poll(() => web.asked).toContain('GET /killed')
    process.kill(pid!, 'SIGKILL')
    expect((await waiting).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The browser crashed; the next call starts a new one.',
    })
    expect((await use({ action: 'snapshot' })).error?.code).toBe('NOT_FOUND')
    expect((await use({ action: 'start' })).data?.browser).toMatchObject({ isRunning: true, tabs: 0 })
    expect((await hub.browser.status()).pid).not.toBe(pid)
  })

  it('is closed when nobody has used it for its time, and takes its folder along', async () => {
    await open('/')
    const before = await folders()
    await clock.advance(299_000)
    expect((await hub.browser.status()).isRunning).toBe(true)
    await use({ action: 'tabs' })
    await clock.advance(299_000)
    expect((await hub.browser.status()).isRunning).toBe(true)
    const { pid } = await hub.browser.status()
    await clock.advance(1_000)
    expect((await hub.browser.status()).isRunning).toBe(false)
    // A call that arrives while it closes gets a new browser.
    expect((await open('/')).data?.tab).toBe('t1')
    expect((await hub.browser.status()).pid).not.toBe(pid)
    await expect
      .poll(async () => (await folders()).filter((name) => before.includes(name)).length)
      .toBeLessThan(before.length)
  })
})
