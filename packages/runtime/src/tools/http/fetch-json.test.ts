import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useHttpHub } from '../../../../../test/support/http-hub.ts'

const http = useHttpHub()
const FETCH = 'core/http.fetchJson'

const serve = (body: string, status = 200, type = 'application/json') => {
  http.local.answer = (_, response) => response.writeHead(status, { 'content-type': type }).end(body)
}

describe('core/http.fetchJson', () => {
  it('takes 5 MiB, and up to the 10 MiB of its schema if the call asks for it', async () => {
    serve(JSON.stringify(['x'.repeat(5_242_876)]))
    const hub = http.hub()
    expect((await hub.callDynamic(FETCH, { url: http.url() })).ok).toBe(true)
    serve(JSON.stringify(['x'.repeat(9_000_000)]))
    const refused = await hub.callDynamic(FETCH, { url: http.url() })
    expect(refused.error).toMatchObject({
      code: 'HTTP_TOO_LARGE',
      message: expect.stringContaining('the limit is 5242880'),
      fix: { hint: 'Raise maxBytes (at most 10485760 here), or download it to a file.' },
    })
    expect((await hub.callDynamic(FETCH, { url: http.url(), maxBytes: 10_485_760 })).ok).toBe(true)
  })

  it('names the key of the limit that the owner has set, or the rule', async () => {
    serve(JSON.stringify(['x'.repeat(5_000)]))
    const bound = http.hub({ limits: { httpBytes: 2_000 } })
    const refused = await bound.callDynamic(FETCH, { url: http.url(), maxBytes: 10_000 })
    expect(refused.error!.fix.hint).toBe('Have the owner raise limits.http, or download it to a file.')
    const ruled = http.hub({ policy: [{ allow: 'network', on: http.url('/**'), limit: { maxBytes: 2_000 } }] })
    const stopped = await ruled.callDynamic(FETCH, { url: http.url() })
    expect(stopped.error!.fix.hint).toContain('raise the size limit of the rule')
  })

  it('gives the parsed answer, and its shape as evidence', async () => {
    serve('{"name":"Ada","token":"t0k3n"}')
    const result = await http.hub().callDynamic(FETCH, { url: http.url() })
    expect(result).toMatchObject({
      ok: true,
      data: { status: 200, json: { name: 'Ada' }, bytes: 30, headers: { 'content-type': 'application/json' } },
      evidence: [
        { type: 'tool', ref: result.callId, summary: 'GET answered 200, 30 bytes, an object with name, token' },
      ],
    })
    serve('[1,2]')
    expect(await http.hub().callDynamic(FETCH, { url: http.url() })).toMatchObject({
      data: { json: [1, 2] },
      evidence: [{ summary: 'GET answered 200, 5 bytes, a list of 2' }],
    })
  })

  it('takes JSON of any status and under any content type', async () => {
    serve('\ufeff{"error":"gone"}', 410, 'text/html')
    const result = await http.hub().callDynamic(FETCH, { url: http.url() })
    expect(result).toMatchObject({ ok: true, data: { status: 410, json: { error: 'gone' } } })
  })

  it('asks for JSON unless the caller asks for something else', async () => {
    http.local.answer = (request, response) => response.end(JSON.stringify({ accept: request.headers.accept }))
    const hub = http.hub()
    const accepted = async (headers?: object) =>
      ((await hub.callDynamic(FETCH, { url: http.url(), headers })).data as { json: { accept: string } }).json.accept
    expect(await accepted()).toContain('application/json')
    expect(await accepted({ Accept: 'application/vnd.x+json' })).toBe('application/vnd.x+json')
  })

  it('sends an object or an array as JSON, and a text as it is', async () => {
    http.local.answer = async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      response.end(JSON.stringify({ type: request.headers['content-type'], body }))
    }
    const hub = http.hub({ policy: [{ allow: 'network' }, { allow: 'send' }] })
    const sent = async (body: unknown, headers?: object) => {
      const result = await hub.callDynamic(FETCH, { url: http.url(), method: 'POST', body, headers })
      return (result.data as { json: object } | undefined)?.json ?? result.error
    }
    expect(await sent({ name: 'Ada' })).toEqual({ type: 'application/json', body: '{"name":"Ada"}' })
    const own = { 'Content-Type': 'application/vnd.x+json' }
    expect(await sent([1], own)).toEqual({ type: 'application/vnd.x+json', body: '[1]' })
    expect(await sent('a=1', { 'content-type': 'text/plain' })).toEqual({ type: 'text/plain', body: 'a=1' })
  })

  it('says what came when it is no JSON object or array', async () => {
    const page = `<html>${'x'.repeat(500)}`
    serve(page, 502, 'text/html')
    const result = await http.hub().callDynamic(FETCH, { url: http.url(), method: 'POST' })
    expect(result.error).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: false })
    const sha256 = createHash('sha256').update(page).digest('hex')
    expect(result.error!.message).toContain(`HTTP 502, text/html) is no JSON: 506 bytes, sha256 ${sha256}`)
    expect(result.error!.message).toContain(`"${page.slice(0, 200)}"`)
    expect(result.error!.message).not.toContain(page.slice(0, 201))
    for (const body of ['42', '"text"', 'null', '{"a":']) {
      serve(body)
      const bad = await http.hub().callDynamic(FETCH, { url: http.url() })
      expect(bad.error?.code, body).toBe('UPSTREAM_ERROR')
    }
  })

  it('takes no body for null, so that a POST that worked does not look like one that failed', async () => {
    http.local.answer = (_, response) => response.writeHead(204).end()
    const result = await http.hub().callDynamic(FETCH, { url: http.url(), method: 'POST' })
    expect(result).toMatchObject({ ok: true, data: { status: 204, json: null, bytes: 0 } })
  })

  it('fails when the answer is over the limit, with the numbers', async () => {
    http.local.answer = (_, response) => response.end(JSON.stringify({ long: 'x'.repeat(2000) }))
    const result = await http.hub().callDynamic(FETCH, { url: http.url(), maxBytes: 1024 })
    expect(result.error).toMatchObject({
      code: 'HTTP_TOO_LARGE',
      message: 'The response has 2011 bytes, the limit is 1024.',
    })
  })

  it('survives hostile JSON', async () => {
    const hub = http.hub()
    serve('{"__proto__":{"polluted":true},"constructor":1}')
    await hub.callDynamic(FETCH, { url: http.url() })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    serve('['.repeat(100_000))
    expect((await hub.callDynamic(FETCH, { url: http.url() })).error?.code).toBe('UPSTREAM_ERROR')
    serve('['.repeat(20_000) + ']'.repeat(20_000))
    expect((await hub.callDynamic(FETCH, { url: http.url() })).status).toBeDefined()
  })
})
