import { describe, expect, it } from 'vitest'
import { useHttpHub } from '../../../../../test/support/http-hub.ts'

const http = useHttpHub()
const HEAD = 'core/http.head'

describe('core/http.head', () => {
  it('tells size and version without the content', async () => {
    let method: string | undefined
    http.local.answer = (request, response) => {
      method = request.method
      response.writeHead(200, { 'content-length': '123456789', etag: '"v1"', 'set-cookie': 'a=b' }).end()
    }
    const result = await http.hub().callDynamic(HEAD, { url: http.url('/big') })
    expect(result).toMatchObject({
      ok: true,
      data: { url: http.url('/big'), status: 200, headers: { 'content-length': '123456789', etag: '"v1"' } },
      evidence: [{ type: 'url', ref: http.url('/big'), summary: 'HEAD answered 200, 123456789 bytes' }],
    })
    expect(method).toBe('HEAD')
    expect(JSON.stringify(result)).not.toContain('cookie')
  })

  it('takes any status for an answer, and follows redirects', async () => {
    http.local.answer = (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/gone' }).end()
      else response.writeHead(410).end()
    }
    const result = await http.hub().callDynamic(HEAD, { url: http.url() })
    expect(result).toMatchObject({ ok: true, data: { status: 410, url: http.url('/gone') } })
  })

  it('reaches no host that the owner did not name, and stops when it is stopped', async () => {
    const hub = http.hub()
    expect((await hub.callDynamic(HEAD, { url: 'http://10.0.0.1/' })).status).toBe('denied')
    const stopping = new AbortController()
    http.local.answer = () => stopping.abort()
    expect((await hub.callDynamic(HEAD, { url: http.url() }, { signal: stopping.signal })).status).toBe('aborted')
    expect((await hub.callDynamic(HEAD, { url: http.url(), method: 'GET' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })
})
