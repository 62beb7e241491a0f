import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'

const UTILS = [
  'core/util.json.select',
  'core/util.text.truncate',
  'core/util.hash.sha256Text',
  'core/util.time.now',
  'core/util.template.render',
]

const local = useLoopback()

describe('the utilities', () => {
  it('have no side effects: they need no capability and run where everything is denied', async () => {
    const denied = { deny: ['read:fs', 'write:fs', 'network', 'exec', 'danger:destructive'] }
    const { hub, call } = realHub({ policy: denied.deny.map((deny) => ({ deny })) })
    const listed = hub.list().filter(({ name }) => UTILS.includes(name))
    expect(listed.map(({ name }) => name).sort()).toEqual([...UTILS].sort())
    expect(listed.flatMap(({ capabilities }) => capabilities)).toEqual([])
    const inputs = [{ json: {}, path: 'a' }, { text: 'a', maxChars: 1 }, { text: 'a' }, {}, { template: 'a', data: {} }]
    for (const [index, name] of UTILS.entries()) expect((await call(name, inputs[index])).ok, name).toBe(true)
  })

  it('core/util.json.select picks by JSONPath or by JMESPath', async () => {
    const { data } = realHub()
    const json = {
      items: [
        { name: 'pen', price: 2 },
        { name: 'car', price: 90_000 },
      ],
      total: 2,
    }
    const select = async (path: string) => (await data('core/util.json.select', { json, path })).value
    expect(await select('$.items[?@.price < 10].name')).toEqual(['pen'])
    expect(await select('$..price')).toEqual([2, 90_000])
    expect(await select('items[?price < `10`].name')).toEqual(['pen'])
    expect(await select('{first: items[0].name, total: total}')).toEqual({ first: 'pen', total: 2 })
    expect(await select('missing')).toBeNull()
  })

  it('core/util.text.truncate cuts by characters or bytes and marks the cut', async () => {
    const { data } = realHub()
    const text = 'Do NOT delete the production database'
    const cut = async (input: object): Promise<string> =>
      (await data('core/util.text.truncate', { text, ...input })).text
    expect(await cut({ maxChars: 100 })).toBe(text)
    for (let maxChars = 1; maxChars < text.length; maxChars++) {
      const short = await cut({ maxChars })
      expect([...short].length).toBeLessThanOrEqual(maxChars)
      expect(short, `maxChars ${maxChars}`).toContain('…')
    }
    const long = await cut({ text: text.repeat(100), maxChars: 200 })
    const [, count] = /(\d+) characters cut/.exec(long)!
    expect(Number(count)).toBe(text.length * 100 - (200 - /\n\[.*\]\n/.exec(long)![0].length))
    const bytes = await cut({ text: 'ü'.repeat(1_000), maxBytes: 100 })
    expect(Buffer.byteLength(bytes)).toBeLessThanOrEqual(100)
    expect(bytes).toMatch(/^ü+\n\[… \d+ characters cut …\]\nü+$/)
  })

  it('core/util.hash.sha256Text hashes a text as UTF-8', async () => {
    const { data } = realHub()
    for (const text of ['', 'hello', '日本語 ü']) {
      const { sha256 } = await data('core/util.hash.sha256Text', { text })
      expect(sha256).toBe(createHash('sha256').update(text, 'utf8').digest('hex'))
    }
  })

  it('core/util.time.now gives the ISO time, epoch milliseconds and a time zone', async () => {
    const { data } = realHub({ clock: fakeClock(Date.UTC(2026, 0, 23, 20)) })
    expect(await data('core/util.time.now')).toMatchObject({
      iso: '2026-01-23T20:00:00.000Z',
      epochMs: Date.UTC(2026, 0, 23, 20),
      timezone: 'UTC',
    })
    expect(await data('core/util.time.now', { timezone: 'America/Los_Angeles' })).toMatchObject({
      timezone: 'America/Los_Angeles',
      local: '2026-01-23T12:00:00.000-08:00',
    })
    const before = Date.now()
    const { epochMs } = await realHub().data('core/util.time.now')
    expect(epochMs >= before && epochMs <= Date.now()).toBe(true)
  })

  it('core/util.template.render fills a Mustache template for a Markdown report', async () => {
    const template = '# {{title}}\n{{#rows}}\n- {{name}}: {{price}}\n{{/rows}}\n{{^rows}}\nNothing.\n{{/rows}}\n'
    const { data } = realHub()
    const render = async (given: object) => (await data('core/util.template.render', { template, data: given })).text
    expect(await render({ title: 'Report', rows: [{ name: 'pen', price: 2 }] })).toBe('# Report\n- pen: 2\n')
    expect(await render({ title: 'Report', rows: [] })).toBe('# Report\nNothing.\n')
    // As in Mustache, two braces escape HTML and three do not.
    const escaped = await data('core/util.template.render', {
      template: '{{a}} {{{a}}} {{&a}}',
      data: { a: '<b> & "c"' },
    })
    expect(escaped.text).toBe('&lt;b&gt; &amp; &quot;c&quot; <b> & "c" <b> & "c"')
  })

  it('bound their output and advise a file for what is larger', async () => {
    const { call, text } = realHub()
    const big = 'x'.repeat(50_000)
    const calls: [string, object][] = [
      ['core/util.template.render', { template: '{{big}}', data: { big }, maxBytes: 1_024 }],
      ['core/util.json.select', { json: { big }, path: 'big', maxBytes: 1_024 }],
    ]
    for (const [tool, input] of calls) {
      const { error } = await call(tool, input)
      expect(error?.message, tool).toContain('1024')
      expect(error?.fix.hint, tool).toMatch(/to a file|fs\.writeText/)
    }
    expect((await text('core/util.text.truncate', { text: big })).length).toBe(30_000)
    expect(
      (await call('core/util.gzip.decompress', { base64: gzipSync(big).toString('base64'), maxBytes: 1_024 })).ok,
    ).toBe(false)
  })

  it('what the document leaves for later is there: a browser, readable pages, a cache, compression', async () => {
    const { hub, data, text } = realHub({ sandbox: LOOPBACK })
    expect(hub.list().map(({ name }) => name)).toContain('core/browser')
    const page =
      '<html><body><nav>Menu</nav><article><h1>Rye</h1><p>About <b>rye</b> bread.</p></article></body></html>'
    local.answer = (_, response) => response.setHeader('content-type', 'text/html').end(page)
    expect(await text('core/web.fetch', { url: `http://127.0.0.1:${local.port}/` })).toContain('About **rye** bread.')
    await data('core/util.cache.set', { key: 'weather:berlin', value: { celsius: 21 } })
    expect(await data('core/util.cache.get', { key: 'weather:berlin' })).toMatchObject({ value: { celsius: 21 } })
    const { base64 } = await data('core/util.gzip.compress', { text: 'hello '.repeat(100) })
    expect(gunzipSync(Buffer.from(base64, 'base64')).toString()).toBe('hello '.repeat(100))
    expect(await text('core/util.gzip.decompress', { base64 })).toContain('hello hello')
  })
})
