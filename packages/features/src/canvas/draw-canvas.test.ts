import { afterAll, expect, it } from 'vitest'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { CanvasResult } from './tools/canvas.ts'

const hub = testHub() as TestHub
afterAll(() => hub.close({ abort: true }))

const act = (action: string, input: object, more: object = {}) =>
  hub.callDynamic('core/canvas', { action, canvas: 'page', ...input }, { run: 'drawn', ...more })

it('draws a canvas in a browser without network, and runs scripts in it', async () => {
  await act('present', {
    kind: 'html',
    content: `<style>body{margin:0;background:#0f0}</style><p>hello</p>
      <script>fetch('http://127.0.0.1:1/x').catch((error) => { window.refused = error.name })</script>`,
  })
  const picture = await act('snapshot', { width: 200, height: 120 })
  expect(picture).toMatchObject({ ok: true, data: { canvas: { version: 1 } } })
  const block = picture.content.find(({ type }) => type === 'image') as { data: string; mediaType: string }
  const png = Buffer.from(block.data, 'base64')
  expect(block.mediaType).toBe('image/png')
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([200, 120])
  expect((picture.data as CanvasResult).errors!.join()).toContain('Content Security Policy')

  const value = async (script: string) => (await act('eval', { script })).data as CanvasResult
  expect(
    await value('return { words: document.body.innerText.trim(), refused: window.refused, n: await 7 }'),
  ).toMatchObject({
    value: { words: 'hello', refused: 'TypeError', n: 7 },
  })
  expect((await act('eval', { script: "throw new Error('oh')" })).error).toMatchObject({
    code: 'EXEC_FAILED',
    message: 'The script failed: oh',
  })
  const lie = await act('eval', { script: `JSON.stringify = () => '{"failure":1}'` })
  expect(lie.error).toMatchObject({ code: 'EXEC_FAILED', message: 'The result of the script is not valid JSON.' })
  const broken = { canvas: 'diagram', kind: 'mermaid', content: 'grph LR' }
  await act('present', broken)
  const { data, meta } = await act('snapshot', { canvas: 'diagram' })
  expect(data).toMatchObject({ image: { mediaType: 'image/png' }, problem: expect.stringContaining('grph LR') })
  expect(meta.notices?.join()).toContain('could not be drawn')

  // What came from outside is labelled when it is looked at.
  await act('update', { content: '<p>from outside</p>' }, { untrusted: true })
  const large = await act('eval', { script: "return 'x'.repeat(9e6)" })
  expect(large).toMatchObject({ error: { code: 'FILE_TOO_LARGE' }, meta: { labels: ['untrusted'] } })
  const stop = new AbortController()
  const endless = act('eval', { script: 'await new Promise(() => {})' }, { signal: stop.signal })
  setTimeout(() => stop.abort(), 100)
  expect((await endless).status).toBe('aborted')
})
