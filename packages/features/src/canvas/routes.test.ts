import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { canvasDetail, canvasList } from './schema.ts'

let served: HttpServed
let agent = ''
let reader = ''
let boss = ''
beforeAll(async () => {
  served = await serveHttp()
  agent = await served.newToken('agent', ['call'])
  reader = await served.newToken('reader', ['read'])
  boss = await served.newToken('boss', ['read', 'approve'])
})
afterAll(() => served.close())

async function present(name: string, content: string, more = {}) {
  const input = { action: 'present', canvas: name, kind: 'html', content, ...more }
  const { json } = await served.ask('POST', '/v1/tools/core%2Fcanvas/call', agent, { input, run: 'shown' })
  return json.data.canvas.id as string
}

describe('canvases over HTTP', () => {
  it('are listed and shown to those who may read, newest first, page by page', async () => {
    const first = await present('first', '<p>1</p>')
    await expect.poll(() => Date.now()).toBeGreaterThan((await served.hub.canvas.find(first))!.createdAt)
    const second = await present('second', '<p>2</p>')
    await present('second', '<p>3</p>')
    const { json } = await served.ask('GET', '/v1/canvases?limit=1', reader)
    expect(canvasList.parse(json).canvases.map(({ id, latest }) => [id, latest.n])).toEqual([[second, 2]])
    const rest = await served.ask('GET', `/v1/canvases?before=${json.next}&hidden=false&run=shown`, reader)
    expect(rest.json.canvases).toMatchObject([{ id: first, principal: 'token:agent' }])
    const one = await served.ask('GET', `/v1/canvases/${second}`, reader)
    expect(canvasDetail.parse(one.json).versions).toHaveLength(2)
    const content = await served.ask('GET', `/v1/canvases/${second}/content?version=1`, reader)
    expect([content.text, content.headers.get('content-type')]).toEqual(['<p>2</p>', 'text/plain; charset=utf-8'])
    expect(content.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  })

  it('are shown in a page without origin and network, wherever it is opened', async () => {
    const id = await present('view', '<p id=x>hello & "you"</p>', { title: 'A <b>title</b>' })
    const { text, headers, status } = await served.ask('GET', `/v1/canvases/${id}/view?theme=dark`, reader)
    const { host } = new URL(served.server.url)
    const scripts = ['markdown', 'mermaid', 'vega-lite'].map((name) => `${host}/v1/canvas-scripts/${name}.js`)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toBe(
      `sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' ${scripts.join(' ')}; style-src 'unsafe-inline'; ` +
        "img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; frame-src 'none'; form-action 'none'; " +
        "base-uri 'none'; frame-ancestors 'self'",
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('set-cookie')).toBeNull()
    expect(text).toContain('<title>A &#60;b&#62;title&#60;/b&#62;</title>')
    expect(text).toContain('<iframe sandbox="allow-scripts"')
    expect(text).not.toContain('<p id=x>')
    const markdown = await present('text', '# Hi', { kind: 'markdown' })
    const shown = await served.ask('GET', `/v1/canvases/${markdown}/view`, reader)
    expect(shown.text).toContain(`//${host}/v1/canvas-scripts/markdown.js`)
  })

  it('are drawn by scripts that frames without an origin may load', async () => {
    const answer = await served.ask('GET', '/v1/canvas-scripts/markdown.js', undefined, undefined, { origin: 'null' })
    expect([answer.status, answer.headers.get('cross-origin-resource-policy')]).toEqual([200, 'cross-origin'])
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const etag = answer.headers.get('etag')!
    const again = { origin: 'null', 'if-none-match': etag }
    expect((await served.ask('GET', '/v1/canvas-scripts/markdown.js', undefined, undefined, again)).status).toBe(304)
  })

  it('are hidden by those who answer, and not by those who only look', async () => {
    const id = await present('gone', 'x')
    expect((await served.ask('POST', `/v1/canvases/${id}/hide`, reader)).status).toBe(403)
    expect((await served.ask('POST', `/v1/canvases/${id}/hide`, boss)).status).toBe(204)
    const { json } = await served.ask('GET', '/v1/canvases?hidden=true', reader)
    expect(json.canvases).toMatchObject([{ id, hidden: true }])
  })

  it.each([
    ['GET', '/v1/canvases', 'agent', 403],
    ['GET', '/v1/canvases', '', 401],
    ['GET', '/v1/canvases/canvas-none/view', '', 401],
    ['GET', '/v1/canvases/canvas-none', 'reader', 404],
    ['GET', '/v1/canvases/canvas-none/view', 'reader', 404],
    ['GET', '/v1/canvases/canvas-none/content', 'reader', 404],
    ['POST', '/v1/canvases/canvas-none/hide', 'boss', 404],
    ['GET', '/v1/canvases/x/view?version=0', 'reader', 400],
    ['GET', '/v1/canvas-scripts/other.js', '', 404],
    ['GET', '/v1/canvas-scripts/..%2f..%2fcli%2fmain.js', '', 404],
  ])('%s %s as %s is %i', async (method, path, who, status) => {
    const token = { agent, reader, boss, '': undefined }[who]
    expect((await served.ask(method, path, token)).status).toBe(status)
  })
})
