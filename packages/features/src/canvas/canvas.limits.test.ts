import type { FeatureCall, FeatureHost } from '@tool-hub/core/feature'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { checkContent, createCanvas, readVersion } from './create-canvas.ts'
import type { CanvasDetail, CanvasKind, CanvasOptions } from './types.ts'

type Rendered = { png?: Uint8Array; json?: string; isCut?: boolean; errors?: string[] }

/** Canvases without a hub around them: artifacts are kept in a list, and a browser answers as told. */
function open(options: CanvasOptions = {}, rendered: Rendered = {}) {
  const clock = fakeClock(1_000)
  const store = createMemoryStore({ now: () => clock.now() })
  const kept: { content: string; name?: string; mediaType?: string }[] = []
  const [told, recorded, permitted, drawn, marks]: [unknown[], unknown[], string[], object[], true[]] = [
    [],
    [],
    [],
    [],
    [],
  ]
  const stops: (() => void)[] = []
  const read = async (ref: string) => Buffer.from(kept[Number(ref.split(':')[1])]!.content)
  const host = {
    ...{ store, clock, redact: (text: string) => text.replaceAll('hunter2', '[redacted]') },
    artifact: (_: string, ref: string) => read(ref),
    emitChange: (...change: unknown[]) => void told.push(change),
    recordChange: async (change: unknown) => void recorded.push(change),
    services: {
      browser: {
        render: async (wish: object) => {
          drawn.push(wish)
          return { png: new Uint8Array(2), errors: [], isCut: false, ...rendered }
        },
      },
    },
  } as unknown as FeatureHost
  const { handle, service } = createCanvas(options, host)
  const signal = new AbortController().signal
  const as = (call: Partial<FeatureCall> = {}) =>
    handle({
      ...{ run: 'r1', caller: 'me', callId: 'c1', principal: undefined, isTainted: false },
      permits: (_: string, value: string) => void permitted.push(value),
      beforeEffect: async () => {},
      artifact: async (content: string, how: object) => {
        kept.push({ content, ...how })
        return { ref: `artifact:${kept.length - 1}`, bytes: content.length }
      },
      readArtifact: read,
      markUntrusted: () => void marks.push(true),
      onStop: (listener: () => void) => stops.push(listener),
      signal: () => signal,
      ...call,
    } as unknown as FeatureCall)
  return { as, service, kept, told, recorded, permitted, drawn, marks, stops, signal, clock }
}
const page = (content = '<p>', more: object = {}) => ({ name: 'report', kind: 'html' as CanvasKind, content, ...more })

describe('the limits of canvases', () => {
  it.each(['maxBytes', 'maxCanvases', 'maxVersions'] as const)('say how much a run may show: %s', (name) => {
    expect(() => open({ [name]: 1 })).not.toThrow()
    for (const value of [0, 1.5, -1])
      expect(() => open({ [name]: value })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: `canvas.${name} is ${value}; it must be a whole number above 0.`,
        }),
      )
  })

  it('are 2 MB and 50 canvases without a word', async () => {
    const { as } = open()
    await as().present(page('x'.repeat(2_000_000)))
    await expect(as().present(page('x'.repeat(2_000_001)))).rejects.toThrow('the limit of a canvas is 2000000.')
    for (let n = 1; n < 50; n++) await as().present(page('x', { name: `n${n}` }))
    await expect(as().present(page('x', { name: 'one more' }))).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: 'This run already has 50 canvases, which is the limit.',
      fix: { key: 'canvas.perRun', hint: 'Update one of them; list shows their names.' },
    })
    expect(await as().list()).toHaveLength(50)
    expect(await as({ run: 'r2' }).list()).toEqual([])
  })

  it('keep 200 versions without a word, or as many as the owner says', async () => {
    const { as, service } = open()
    for (let n = 0; n < 201; n++) await as().present(page(`${n}`))
    const { id } = (await service.list())[0]!
    expect((await service.find(id))!.versions.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n + 2))
    const few = open({ maxVersions: 2 })
    for (let n = 0; n < 3; n++) await few.as().present(page(`${n}`))
    const [other] = await few.service.list()
    expect((await few.service.find(other!.id))!.versions.map(({ n }) => n)).toEqual([2, 3])
  })

  it.each<[CanvasKind, string, string, string, string]>([
    [
      'html',
      'äb',
      'FILE_TOO_LARGE',
      'The content has 3 bytes; the limit of a canvas is 2.',
      'Show less, split it over several canvases, or raise canvas.content.',
    ],
    ['form', '{', 'INPUT_SCHEMA_INVALID', 'The content of a form canvas is not valid JSON: ', ''],
    [
      'form',
      '[]',
      'INPUT_SCHEMA_INVALID',
      'The content of a form canvas must be a JSON object.',
      'Give a JSON Schema with type object and properties.',
    ],
    [
      'vega-lite',
      '7',
      'INPUT_SCHEMA_INVALID',
      'The content of a vega-lite canvas must be a JSON object.',
      'Give a Vega-Lite specification.',
    ],
  ])('refuse %s of %j', (kind, content, code, message, hint) => {
    expect(() => checkContent(kind, content, 2)).toThrow(
      expect.objectContaining({
        code,
        message: expect.stringContaining(message),
        ...(hint !== '' && { fix: expect.objectContaining({ hint }) }),
      }),
    )
    expect(() => checkContent(kind, '{}', 2)).not.toThrow()
    for (const free of ['html', 'markdown', 'mermaid'] as const) expect(() => checkContent(free, '[', 2)).not.toThrow()
  })
})

describe('a canvas', () => {
  it('taints who lists its name if it was shown after content from outside', async () => {
    const { as, marks } = open()
    await as().present(page('<p>', { name: 'clean' }))
    await as().list()
    expect(marks).toEqual([])
    await as({ isTainted: true }).present(page())
    await as().list()
    expect(marks).toEqual([true])
  })

  it('is kept with all that is known of it', async () => {
    const { as, kept, told, permitted } = open()
    const shown = await as({ principal: 'token:ci', isTainted: true }).present(page('<p>', { title: 'A hunter2' }))
    const version = { n: 1, artifact: 'artifact:0', bytes: 3, at: 1_000, callId: 'c1' }
    expect(shown).toMatchObject({
      ...{ id: expect.stringMatching(/^canvas-[0-9a-f]{16}$/), name: 'report', title: 'A [redacted]', kind: 'html' },
      ...{ run: 'r1', caller: 'me', principal: 'token:ci', hidden: false, tainted: true, createdAt: 1_000 },
      latest: version,
    })
    expect(kept).toEqual([{ content: '<p>', name: 'report', mediaType: 'text/html' }])
    expect(told).toEqual([['canvas', shown.id]])
    // Only a page runs scripts of its author.
    expect(permitted).toEqual(['present', 'script'])
  })

  it.each([
    ['html', '<p>', 'text/html', ['update', 'script']],
    ['markdown', 'x', 'text/markdown', ['update']],
    ['mermaid', 'x', 'text/vnd.mermaid', ['update']],
    ['vega-lite', '{}', 'application/json', ['update']],
    ['form', '{}', 'application/schema+json', ['update']],
  ] as [CanvasKind, string, string, string[]][])(
    'of the kind %s is kept as what it is',
    async (kind, content, mediaType, permits) => {
      const { as, kept, permitted } = open()
      const { title } = await as().present({ kind, content })
      expect(title).toMatch(/^canvas-[0-9a-f]{6}$/)
      permitted.length = 0
      await as().update(title, { content })
      expect([kept[0]!.mediaType, permitted]).toEqual([mediaType, permits])
    },
  )

  it('keeps its title and its kind with a new version', async () => {
    const { as, clock } = open()
    await as().present(page('1', { title: 'T' }))
    await clock.advance(5)
    expect(await as({ isTainted: true }).update('report', { content: '2' })).toMatchObject({
      ...{ title: 'T', tainted: true, updatedAt: 1_005, latest: { n: 2, at: 1_005 } },
    })
    expect(await as().update('report', { content: '3', title: 'a hunter2' })).toMatchObject({ title: 'a [redacted]' })
    await expect(as().present({ ...page('x'), kind: 'markdown' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The canvas "report" is html, not markdown.',
      fix: { hint: 'Present it under another name.' },
    })
  })

  it('is hidden once, by its run or by the owner', async () => {
    const { as, service, told, recorded } = open()
    const { id } = await as().present(page())
    expect(await as().hide('report')).toMatchObject({ id, hidden: true })
    expect(await as().hide(id)).toMatchObject({ hidden: true })
    expect(told).toHaveLength(2)
    await service.hide(id, { by: 'ada' })
    expect(recorded).toEqual([])
    await as().present(page('2'))
    await service.hide(id, { by: 'ada' })
    expect(recorded).toEqual([{ by: 'ada', change: 'canvas-hidden', subject: id }])
    expect(told).toHaveLength(4)
  })

  it('that is a form goes when its call is over, another one stays', async () => {
    const { as, service, stops } = open()
    await as().present(page())
    expect(stops).toHaveLength(0)
    const { id } = await as().present({ kind: 'form', content: '{}' })
    stops[0]!()
    await expect.poll(async () => (await service.find(id))!.hidden).toBe(true)
  })

  it('of another run is none, and those of this run are named', async () => {
    const { as, clock } = open()
    const { id } = await as().present(page())
    await expect(as({ run: 'r2' }).hide(id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `This run has no canvas "${id}".`,
      fix: { hint: 'Present one first.' },
    })
    for (let n = 0; n < 20; n++) {
      await clock.advance(1)
      await as().present(page('x', { name: `n${n}` }))
    }
    const failed = await as()
      .hide('x'.repeat(101))
      .catch((error) => error)
    expect(failed.message).toBe(`This run has no canvas "${'x'.repeat(100)}".`)
    expect(failed.fix.hint).toMatch(/^Known canvases: n19, /)
    expect(failed.fix.hint.split(', ')).toHaveLength(20)
  })

  it('has the versions that are listed', () => {
    const versions = [3, 4, 5].map((n) => ({ n })) as unknown as CanvasDetail['versions']
    const canvas = { name: 'report', latest: versions[2]!, versions } as CanvasDetail
    expect(readVersion(canvas, undefined).n).toBe(5)
    expect(readVersion(canvas, 3).n).toBe(3)
    const gone = 'Versions before 3 are no longer listed; they stay artifacts of their calls.'
    for (const [wanted, hint] of [
      [0, 'It has versions 3 to 5.'],
      [1, gone],
      [2, gone],
      [6, 'It has versions 3 to 5.'],
    ] as const)
      expect(() => readVersion(canvas, wanted)).toThrow(
        expect.objectContaining({
          code: 'NOT_FOUND',
          message: `The canvas "report" has no version ${wanted}.`,
          fix: { hint },
        }),
      )
    expect(() => readVersion({ ...canvas, versions: [] }, 4)).toThrow(
      expect.objectContaining({
        fix: { hint: 'Versions before 5 are no longer listed; they stay artifacts of their calls.' },
      }),
    )
  })
})

describe('a drawing', () => {
  it('is that of the version, in the size and with the script that were wanted', async () => {
    const { as, drawn, permitted, signal, marks } = open({}, { json: '{"value":7}', errors: ['oh'] })
    await as().present(page('<p>one</p>'))
    await as().update('report', { content: '<p>two</p>' })
    permitted.length = 0
    expect(await as().snapshot('report', { version: 1, width: 200, height: 100 })).toMatchObject({
      ...{ version: 1, png: new Uint8Array(2), errors: ['oh'], value: 7, canvas: { name: 'report' } },
    })
    expect(drawn[0]).toMatchObject({ html: expect.stringContaining('<p>one</p>'), width: 200, height: 100, signal })
    await as().evaluate('report', 'return 7')
    expect(drawn[1]).toMatchObject({
      html: expect.stringContaining('<p>two</p>'),
      script: expect.stringContaining('return 7'),
    })
    expect(drawn[1]).not.toHaveProperty('width')
    expect([permitted, marks]).toEqual([['snapshot', 'eval'], []])
    await as({ isTainted: true }).update('report', { content: 'x' })
    await as().snapshot('report')
    expect(marks).toHaveLength(1)
  })

  it.each<[string, Rendered, object]>([
    ['a problem', { json: '{"problem":"no line 7"}' }, { problem: 'no line 7' }],
    ['a long problem', { json: JSON.stringify({ problem: 'x'.repeat(2_001) }) }, { problem: 'x'.repeat(2_000) }],
  ])('says that there is %s', async (_, rendered, more) => {
    const { as } = open({}, rendered)
    await as().present(page())
    expect(await as().snapshot('report')).toMatchObject(more)
  })

  it('has neither value nor problem where nothing was said', async () => {
    for (const json of [undefined, '{"problem":null}']) {
      const { as } = open({}, { json })
      await as().present(page())
      expect(Object.keys(await as().snapshot('report')).sort()).toEqual(['canvas', 'errors', 'png', 'version'])
    }
  })

  it.each<[Rendered, string, string, string?]>([
    [{ isCut: true }, 'FILE_TOO_LARGE', 'The result of the script is too large.', 'Return less data.'],
    [{ json: '{"failure":"oh"}' }, 'EXEC_FAILED', 'The script failed: oh'],
    [
      { json: '{"failure":1}' },
      'EXEC_FAILED',
      'The result of the script is not valid JSON.',
      'Do not replace JSON.stringify.',
    ],
    [{ json: '{' }, 'EXEC_FAILED', 'The result of the script is not valid JSON.', 'Do not replace JSON.stringify.'],
  ])('fails with %j', async (rendered, code, message, hint) => {
    const { as } = open({}, rendered)
    await as().present(page())
    await expect(as().snapshot('report')).rejects.toMatchObject({ code, message, ...(hint && { fix: { hint } }) })
  })
})

describe('the owner', () => {
  it('reads every canvas, and writes it as a page', async () => {
    const { as, service } = open()
    const { id } = await as().present(page('<p>one</p>'))
    await as().update(id, { content: '<p>two</p>', title: 'T' })
    expect(await service.list({ run: 'r2' })).toEqual([])
    expect(await service.content(id)).toMatchObject({ version: { n: 2 }, text: '<p>two</p>' })
    expect(await service.content(id, 1)).toMatchObject({ version: { n: 1 }, text: '<p>one</p>' })
    const written = await service.document(id, { version: 1, theme: 'dark' })
    expect(written).toContain('&#60;p&#62;one&#60;/p&#62;')
    expect(written).toContain('color-scheme:dark')
    const chart = await as().present({ kind: 'mermaid', content: 'graph' })
    expect(await service.document(chart.id, { scripts: 'hub.example/scripts' })).toContain(
      '//hub.example/scripts/mermaid.js',
    )
    await expect(service.content('x'.repeat(101))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `Canvas "${'x'.repeat(100)}" not found.`,
      fix: { hint: 'List them with tool-hub canvas.' },
    })
  })
})
