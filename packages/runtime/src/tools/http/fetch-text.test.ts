import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { useHttpHub } from '../../../../../test/support/http-hub.ts'

const http = useHttpHub()
const FETCH = 'core/http.fetchText'

describe('core/http.fetchText', () => {
  it('gives text, status and headers, with evidence and the label of what comes from outside', async () => {
    http.local.answer = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'session=secret', etag: '"1"' })
        .end('grüße')
    const result = await http.hub().callDynamic(FETCH, { url: http.url('/a?token=hush#x') })
    expect(result).toMatchObject({
      ok: true,
      data: { url: http.url('/a?token=[redacted:url-secret]'), status: 200, text: 'grüße', bytes: 7 },
      evidence: [{ type: 'url', ref: `${http.url('/a')}?…`, summary: 'GET answered 200, 7 bytes' }],
      meta: { labels: ['untrusted'] },
    })
    const { headers } = result.data as { headers: Record<string, string> }
    expect(headers).toMatchObject({ 'content-type': 'text/plain', etag: '"1"' })
    expect(JSON.stringify(result)).not.toContain('session=secret')
    expect(JSON.stringify(result.evidence)).not.toContain('hush')
    expect(result.content).toMatchObject([{ text: expect.stringMatching(/^HTTP 200 from /) }, { text: 'grüße' }])
  })

  it('takes any status for an answer', async () => {
    http.local.answer = (_, response) => response.writeHead(404).end('not here')
    const result = await http.hub().callDynamic(FETCH, { url: http.url() })
    expect(result).toMatchObject({ ok: true, data: { status: 404, text: 'not here' } })
  })

  it('sends a body with POST, and null for none', async () => {
    const seen: string[] = []
    http.local.answer = (request, response) => {
      request.setEncoding('utf8')
      request.on('data', (chunk) => seen.push(`${request.method} ${request.headers['content-type']} ${chunk}`))
      request.on('end', () => response.end('taken'))
    }
    const hub = http.hub()
    const post = { url: http.url(), method: 'POST', headers: { 'Content-Type': 'text/x' }, body: 'data' }
    expect(await hub.callDynamic(FETCH, post)).toMatchObject({ ok: true, data: { text: 'taken' } })
    expect(await hub.callDynamic(FETCH, { url: http.url(), body: null })).toMatchObject({ ok: true })
    expect(seen).toEqual(['POST text/x data'])
  })

  it('repeats a GET twice, a POST never', async () => {
    let asked = 0
    http.local.answer = (_, response) => {
      asked += 1
      response.writeHead(503).end()
    }
    const hub = http.hub()
    const get = await hub.callDynamic(FETCH, { url: http.url() })
    expect([get.meta.attempts, asked]).toEqual([3, 3])
    await hub.callDynamic(FETCH, { url: http.url(), method: 'POST' })
    expect(asked).toBe(4)
  })

  it('cuts what is over the limit, and says how to get the rest', async () => {
    http.local.answer = (_, response) => response.end('ü'.repeat(2000))
    const result = await http.hub().callDynamic(FETCH, { url: http.url(), maxBytes: 1025 })
    expect(result).toMatchObject({ ok: true, data: { text: 'ü'.repeat(512), bytes: 1025 } })
    expect(result.meta.truncated).toBeDefined()
    expect(result.meta.notices?.join()).toContain('first 1025 of 4000 bytes; use core/http.downloadFile')
  })

  it('keeps the whole in a file when the owner wants that', async () => {
    http.local.answer = (request, response) => response.end(request.url === '/small' ? 'small' : 'ü'.repeat(2000))
    const { hub, read } = http.fileHub({ core: { enableAutoWriteLargeResponses: true } })
    expect((await hub.callDynamic(FETCH, { url: http.url('/small') })).data).not.toHaveProperty('fileRef')
    for (const method of ['GET', 'POST']) {
      const result = await hub.callDynamic(FETCH, { url: http.url(), method, maxBytes: 1025 })
      expect(result).toMatchObject({ ok: true, data: { text: 'ü'.repeat(512), bytes: 1025 } })
      const { fileRef } = result.data as { fileRef: string }
      expect(fileRef).toMatch(/^downloads\/[0-9a-f]{12}\.txt$/)
      expect(read(fileRef).toString()).toBe('ü'.repeat(2000))
      expect(result.evidence).toContainEqual(expect.objectContaining({ type: 'file', ref: fileRef }))
      expect(result.meta.notices?.join()).toContain(`all of it is in ${fileRef}`)
    }
  })

  it('reads no more text into the answer than the owner allows, also when the whole is kept', async () => {
    http.local.answer = (_, response) => response.end('x'.repeat(5000))
    const { hub, read } = http.fileHub({ core: { enableAutoWriteLargeResponses: true }, limits: { httpBytes: 2000 } })
    for (const more of [{}, { maxBytes: 4000 }]) {
      const result = await hub.callDynamic(FETCH, { url: http.url(), ...more })
      expect(result).toMatchObject({ ok: true, data: { text: 'x'.repeat(2000), bytes: 2000 } })
      expect(read((result.data as { fileRef: string }).fileRef).length).toBe(5000)
    }
  })

  it.each([
    ['the meta tag of a page', 'text/html', Buffer.from('<meta charset="windows-1251">\xcf\xf0\xe8', 'latin1'), /При$/],
    ['a byte order mark', 'text/plain', Buffer.from('\ufeffhallo', 'utf16le'), /^hallo$/],
    ['the content type', 'text/plain; charset=latin1', Buffer.from('\xfc', 'latin1'), /^ü$/],
  ])('finds the charset by %s, whether the whole is kept or not', async (_, type, body, text) => {
    http.local.answer = (_, response) => response.setHeader('content-type', type).end(body)
    for (const enableAutoWriteLargeResponses of [false, true]) {
      const { hub } = http.fileHub({ core: { enableAutoWriteLargeResponses } })
      const { data } = await hub.callDynamic(FETCH, { url: http.url() })
      expect(data).toMatchObject({ text: expect.stringMatching(text), bytes: body.length })
    }
  })

  it('asks whether what it has is still good, whether the whole is kept or not', async () => {
    const answered: number[] = []
    http.local.answer = (request, response) => {
      const status = request.headers['if-none-match'] ? 304 : 200
      answered.push(status)
      response.writeHead(status, { etag: '"1"' }).end(status === 200 ? 'x'.repeat(3000) : undefined)
    }
    const { hub, read } = http.fileHub({ core: { enableAutoWriteLargeResponses: true } })
    const fetch = (more = {}) => hub.callDynamic(FETCH, { url: http.url(), ...more }, { run: 'one' })
    await fetch()
    expect((await fetch()).data).toMatchObject({ status: 200, text: 'x'.repeat(3000) })
    const { data } = await fetch({ maxBytes: 1024 })
    expect(data).toMatchObject({ status: 200, bytes: 1024 })
    expect(read((data as { fileRef: string }).fileRef).length).toBe(3000)
    expect(answered).toEqual([200, 304, 304])
  })

  it('gives the beginning when the rest may not be kept', async () => {
    http.local.answer = (_, response) => response.end('x'.repeat(5000))
    const policy = [{ deny: 'write:fs' }]
    const { hub } = http.fileHub({ core: { enableAutoWriteLargeResponses: true }, policy })
    const result = await hub.callDynamic(FETCH, { url: http.url(), maxBytes: 1024 })
    expect(result).toMatchObject({ ok: true, data: { bytes: 1024 } })
    expect(result.data).not.toHaveProperty('fileRef')
    expect(result.meta.notices?.join()).toContain('was not kept')
  })

  it('gives the rest up when it may not be kept: the connection is closed immediately', async () => {
    let closed: Promise<unknown> | undefined
    http.local.answer = (_, response) => {
      closed = once(response, 'close')
      response.write('x'.repeat(5000))
    }
    const { hub } = http.fileHub({ core: { enableAutoWriteLargeResponses: true }, policy: [{ deny: 'write:fs' }] })
    expect((await hub.callDynamic(FETCH, { url: http.url(), maxBytes: 1024, timeoutMs: 60_000 })).ok).toBe(true)
    await closed
  })

  it('refuses bad input before anything is asked', async () => {
    const hub = http.hub()
    for (const input of [
      {},
      { url: '' },
      { url: 'not a url' },
      { url: ` ${http.url()}` },
      { url: http.url(), method: 'DELETE' },
      { url: http.url(), timeoutMs: 999 },
      { url: http.url(), timeoutMs: 60_001 },
      { url: http.url(), maxBytes: 1023 },
      { url: http.url(), maxBytes: 10_485_761 },
      { url: http.url(), headers: { Host: 'evil' } },
      { url: http.url(), headers: { a: 'b\r\nc: d' } },
      { url: http.url(), body: 'with GET' },
      { url: http.url(), extra: 1 },
    ]) {
      const result = await hub.callDynamic(FETCH, input)
      expect(result.error?.code, JSON.stringify(input)).toBe('INPUT_SCHEMA_INVALID')
    }
  })

  it('reaches no host that the owner did not name', async () => {
    const hub = http.hub()
    for (const url of ['http://127.0.0.2/', 'http://169.254.169.254/', 'http://example.org/', 'file:///etc/passwd']) {
      expect((await hub.callDynamic(FETCH, { url })).status, url).toBe('denied')
    }
  })

  it('stops when it is stopped and when its time is over', async () => {
    const stopping = new AbortController()
    http.local.answer = () => stopping.abort()
    const hub = http.hub()
    expect((await hub.callDynamic(FETCH, { url: http.url() }, { signal: stopping.signal })).status).toBe('aborted')
    http.local.answer = () => {}
    const slow = await hub.callDynamic(FETCH, { url: http.url(), timeoutMs: 1000 })
    expect(slow.error).toMatchObject({ code: 'HTTP_TIMEOUT', message: 'The request did not finish in 1000 ms.' })
  })

  it('fills in a secret that the model never sees', async () => {
    let seen: string | undefined
    http.local.answer = (request, response) => {
      seen = request.headers.authorization
      response.end(`you sent ${seen}`)
    }
    const hub = http.hub({ secrets: { notes: { value: 'hush-hush-1234', hosts: ['127.0.0.1'] } } })
    const headers = { authorization: `Bearer \${secret:notes}` }
    const result = await hub.callDynamic(FETCH, { url: http.url(), headers })
    expect(seen).toBe('Bearer hush-hush-1234')
    expect(JSON.stringify(result)).not.toContain('hush-hush')
  })
})
