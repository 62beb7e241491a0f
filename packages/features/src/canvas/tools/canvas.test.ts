import { readFile } from 'node:fs/promises'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import type { HubOptions } from '../../../../core/src/options.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import type { CanvasResult } from './canvas.ts'

const FORM = JSON.stringify({ type: 'object', properties: { region: { type: 'string' } }, required: ['region'] })

const hubs: TestHub[] = []
afterEach(async () => {
  // The last first: it may write into the folder of one before.
  for (const hub of hubs.splice(0).reverse()) await hub.close({ abort: true })
})

function open(options: HubOptions = {}) {
  const hub = testHub(options) as TestHub
  hubs.push(hub)
  const act = (action: string, input: object = {}, more: object = {}) =>
    hub.callDynamic('canvas', { action, ...input }, { run: 'r1', ...more })
  const data = async (...given: Parameters<typeof act>) => (await act(...given)).data as CanvasResult
  return { hub, act, data }
}

const page = (content: string, more: object = {}) => ({ canvas: 'report', kind: 'html', content, ...more })

describe('core/canvas', () => {
  it('shows something, adds versions, and keeps each as an artifact of the run', async () => {
    const { hub, act } = open()
    const first = await act('present', page('<p>one</p>', { title: 'Report' }))
    expect(first).toMatchObject({
      ok: true,
      data: { action: 'present', canvas: { name: 'report', title: 'Report', kind: 'html', version: 1, hidden: false } },
    })
    const second = await act('update', { canvas: 'report', content: '<p>two</p>' })
    expect(second.data).toMatchObject({ canvas: { version: 2, title: 'Report', bytes: 10 } })
    const { id } = (second.data as CanvasResult).canvas!
    const found = (await hub.canvas.find(id))!
    expect(found.versions.map(({ n, callId }) => [n, callId])).toEqual([
      [1, first.callId],
      [2, second.callId],
    ])
    expect(first.artifacts).toMatchObject([
      { ref: found.versions[0]!.artifact, name: 'report', mediaType: 'text/html' },
    ])
    expect((await hub.canvas.content(id, 1)).text).toBe('<p>one</p>')
    expect((await hub.canvas.content(id)).text).toBe('<p>two</p>')
    expect(first.evidence.some(({ ref }) => ref === found.versions[0]!.artifact)).toBe(true)
    expect(first.content[0]).toMatchObject({ text: expect.stringContaining(`report (${id})  html  version 1`) })
  })

  it('takes a name that is there already for a new version, and shows it again', async () => {
    const { act, data } = open()
    await act('present', page('one'))
    expect((await data('hide', { canvas: 'report' })).canvas).toMatchObject({ hidden: true })
    expect((await data('present', page('two'))).canvas).toMatchObject({ version: 2, hidden: false })
    expect((await act('present', page('x', { kind: 'markdown' }))).error).toMatchObject({ code: 'CONFLICT' })
    const both = await Promise.all([
      data('present', page('a', { canvas: 'b' })),
      data('present', page('b', { canvas: 'b' })),
    ])
    expect(both.map(({ canvas: shown }) => shown!.version).sort()).toEqual([1, 2])
  })

  it('lists the canvases of its own run and reaches no others', async () => {
    const { act, data } = open()
    const { canvas: shown } = await data('present', page('one'))
    expect((await data('list')).canvases).toEqual([shown])
    expect((await act('list', {}, { run: 'r2' })).content).toEqual([
      { type: 'text', text: 'This run has no canvases.' },
    ])
    for (const input of [
      { action: 'update', content: 'x' },
      { action: 'hide' },
      { action: 'snapshot' },
      { action: 'eval', script: 'return 1' },
    ])
      expect((await act(input.action, { ...input, canvas: shown!.id }, { run: 'r2' })).error).toMatchObject({
        code: 'NOT_FOUND',
        fix: { hint: 'Present one first.' },
      })
    expect((await act('hide', { canvas: 'other' })).error?.fix.hint).toBe('Known canvases: report.')
  })

  it.each([
    ['needs content', 'present', { kind: 'html' }],
    ['needs kind', 'present', { content: 'x' }],
    ['needs canvas', 'update', { content: 'x' }],
    ['needs canvas', 'hide', {}],
    ['needs canvas', 'snapshot', {}],
    ['needs script', 'eval', { canvas: 'report' }],
    ['is not valid JSON', 'present', { kind: 'vega-lite', content: 'x' }],
    ['must be a JSON object', 'present', { kind: 'vega-lite', content: '[]' }],
    ['Invalid form', 'present', { kind: 'form', content: '{' }],
    ['Invalid form: it has 0 fields', 'present', { kind: 'form', content: '{"type":"object","properties":{}}' }],
    [
      'Invalid form: properties.a.type',
      'present',
      { kind: 'form', content: '{"type":"object","properties":{"a":{"type":"object"}}}' },
    ],
    ['canvas', 'present', { kind: 'html', content: 'x', canvas: '../x' }],
    ['kind', 'present', { kind: 'svg', content: 'x' }],
  ])('refuses bad input: %s', async (words, action, input) => {
    const { act, data } = open()
    const { error } = await act(action, input)
    expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining(words) })
    expect((await data('list')).canvases).toEqual([])
  })

  it('keeps to the limits of the owner', async () => {
    const { hub, act, data } = open({ canvas: { maxBytes: 10, maxCanvases: 2, maxVersions: 2 } })
    expect((await act('present', page('x'.repeat(11)))).error).toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The content has 11 bytes; the limit of a canvas is 10.',
    })
    const { canvas: shown } = await data('present', page('1'))
    await act('present', page('x', { canvas: 'second' }))
    expect((await act('present', page('x', { canvas: 'third' }))).error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    await act('update', { canvas: 'report', content: '2' })
    await act('update', { canvas: 'report', content: '3' })
    expect((await hub.canvas.find(shown!.id))!.versions.map(({ n }) => n)).toEqual([2, 3])
    expect((await act('snapshot', { canvas: 'report', version: 1 })).error).toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'Versions before 2 are no longer listed; they stay artifacts of their calls.' },
    })
    expect((await act('snapshot', { canvas: 'report', version: 9 })).error?.fix.hint).toBe('It has versions 2 to 3.')
    await expect(open({ canvas: { maxBytes: 0 } }).hub.canvas.list()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('returns what was filled into a form, which then disappears', async () => {
    const { hub, act } = open({ onQuestion: ({ question, form }) => ({ region: `${question} ${form?.type}` }) })
    const result = await act('present', { kind: 'form', title: 'Where?', content: FORM })
    expect(result).toMatchObject({ ok: true, data: { values: { region: 'Where? object' }, canvas: { hidden: true } } })
    expect(result.content).toEqual([{ type: 'text', text: '{"region":"Where? object"}' }])
    await expect.poll(async () => (await hub.canvas.list()).map(({ hidden }) => hidden)).toEqual([true])
  })

  it('takes a form away when nobody can answer, none does in time, or the call is stopped', async () => {
    const clock = fakeClock()
    const alone = open()
    expect((await alone.act('present', { kind: 'form', content: FORM })).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const { hub, act } = open({ clock, onQuestion: () => new Promise(() => {}) })
    const late = act('present', { canvas: 'late', kind: 'form', content: FORM, waitMs: 1_000 })
    await expect.poll(async () => (await hub.canvas.list()).length).toBe(1)
    expect((await hub.canvas.list())[0]).toMatchObject({ hidden: false })
    // The question is filed a moment after the canvas.
    while (await Promise.race([late.then(() => false), new Promise((resolve) => setImmediate(resolve, true))]))
      await clock.advance(1_000)
    expect((await late).error?.code).toBe('APPROVAL_TIMEOUT')
    const stop = new AbortController()
    const stopped = act('present', { canvas: 'stopped', kind: 'form', content: FORM }, { signal: stop.signal })
    await expect.poll(async () => (await hub.canvas.list()).length).toBe(2)
    stop.abort()
    expect((await stopped).status).toBe('aborted')
    for (const each of [alone.hub, hub])
      await expect.poll(async () => (await each.canvas.list()).every(({ hidden }) => hidden)).toBe(true)
  })

  it('asks before a script by default, and for nothing else', async () => {
    const asked: string[] = []
    const { act } = open({
      approve: ({ targets }) => {
        asked.push(...targets)
        return { decision: 'deny', reason: 'no scripts' }
      },
    })
    await act('present', page('x'))
    await act('update', { canvas: 'report', content: 'y' })
    await act('list')
    expect((await act('eval', { canvas: 'report', script: 'return 1' })).error).toMatchObject({
      code: 'APPROVAL_DENIED',
    })
    expect(asked).toEqual(['canvas eval'])
  })

  it('asks before a page, but not before a chart, once the run has read content from outside', async () => {
    const { hub } = open({ approve: () => ({ decision: 'deny' }) })
    const act = (input: object) => hub.callDynamic('core/canvas', input, { untrusted: true })
    const markdown = { action: 'present', canvas: 'notes', kind: 'markdown', content: '# hi' }
    expect((await act({ ...page('x'), action: 'present' })).error).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect((await act(markdown)).ok).toBe(true)
    expect((await act({ ...markdown, action: 'update', content: '# ho' })).ok).toBe(true)
    expect((await act({ action: 'update', canvas: 'notes', content: '# hu' })).error).toMatchObject({
      code: 'APPROVAL_DENIED',
    })
  })

  it('is denied what a rule denies, at the tool and at the handle', async () => {
    const { act } = open({ policy: [{ deny: 'canvas', on: ['present'] }] })
    expect((await act('present', page('x'))).error).toMatchObject({ code: 'POLICY_DENIED' })
    expect((await act('list')).ok).toBe(true)
  })

  it('says that a canvas is untrusted once its run has read content from outside', async () => {
    const { hub, act, data } = open()
    const { canvas: shown } = await data('present', page('x'))
    expect((await hub.canvas.find(shown!.id))!.tainted).toBe(false)
    await act('update', { canvas: 'report', content: 'y' }, { untrusted: true })
    await act('update', { canvas: 'report', content: 'z' })
    expect((await hub.canvas.find(shown!.id))!.tainted).toBe(true)
  })

  it('hides secrets in contents and titles', async () => {
    const { hub, data } = open({ redact: { values: ['hunter2hunter2'] } })
    const { canvas: shown } = await data('present', page('key hunter2hunter2', { title: 'hunter2hunter2' }))
    const { text } = await hub.canvas.content(shown!.id)
    expect(`${shown!.title} ${text}`).not.toContain('hunter2')
  })

  it('needs a place for records', async () => {
    const { act, data } = open({ runs: false })
    expect((await act('present', page('x'))).error).toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect((await data('list')).canvases).toEqual([])
  })

  it('is there after the hub was made anew, and its owner can hide it', async () => {
    const store = createMemoryStore()
    const { hub, data } = open({ store })
    const { canvas: shown } = await data('present', page('still here'))
    const runs = `${hub.folder}/runs`
    const told: unknown[] = []
    store.events.watch(({ topic, body }) => told.push([topic, JSON.parse(body)]))
    const next = open({ store, runs, run: 'owner-run' })
    expect((await next.hub.canvas.content(shown!.id)).text).toBe('still here')
    expect(await next.hub.canvas.document(shown!.id)).toContain('still here')
    await next.hub.canvas.hide(shown!.id, { by: 'ada' })
    await next.hub.canvas.hide(shown!.id, { by: 'ada' })
    expect(await next.hub.canvas.list({ hidden: true })).toHaveLength(1)
    expect(told).toEqual([['feature', { feature: 'canvas', subject: shown!.id }]])
    const record = await readFile(`${runs}/owner-run/events.jsonl`, 'utf8')
    expect(record.match(/"change":"canvas-hidden"/g)).toHaveLength(1)
    await expect(next.hub.canvas.content('canvas-none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
