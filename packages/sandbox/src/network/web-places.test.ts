import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { PUBLIC, useLoopback } from '../../../../test/support/loopback.ts'
import type { WebFetchOptions } from '../../../core/src/source.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createWebFetch, type OpenWebFetch, type WebFetchGuard, type WebFetchTimes } from './web-fetch.ts'

const web = useLoopback()
const open: OpenWebFetch[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((fetch) => fetch.close()))
})

/** A fetch for a service that dials for real unless `guard.dial` says otherwise. */
function fetchFor(options: Partial<WebFetchOptions & WebFetchTimes> = {}, guard: Partial<WebFetchGuard> = {}) {
  const fetch = createWebFetch({ origins: [origin()], ...options }, { privateRanges: [], userAgent: 'hub/1', ...guard })
  open.push(fetch)
  return fetch
}

const origin = () => `http://127.0.0.1:${web.port}`
const code = (expected: string) => expect.objectContaining({ code: expected })
const refused = code('HTTP_DISALLOWED_HOST')
/** Every name is public and every connection ends at the server of the test. */
const pretend = (): Partial<WebFetchGuard> => ({
  resolve: async () => [PUBLIC],
  dial: (address) => web.dial(web.port, address),
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

interface Echo {
  readonly headers: Record<string, string>
  readonly body: string
}

/** Answers with what was asked. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method, url, headers, body: await bodyOf(request) }))
}

describe('what may be reached', () => {
  it.each([
    ['another port', () => 'http://127.0.0.1:9/'],
    ['another scheme', () => `https://127.0.0.1:${web.port}/`],
    ['another spelling of this machine', () => `http://localhost:${web.port}/`],
    ['another host', () => 'https://example.org/'],
    ['another protocol', () => 'file:///etc/passwd'],
  ])('is not %s', async (_, url) => {
    const resolve = vi.fn()
    await expect(fetchFor({}, { resolve })(url())).rejects.toThrow(refused)
    expect(resolve).not.toHaveBeenCalled()
  })

  it('is this machine when the owner wrote localhost, and nothing else by that name', async () => {
    const local = `http://localhost:${web.port}`
    expect((await fetchFor({ origins: [local] }, { resolve: async () => ['127.0.0.1'] })(local)).status).toBe(200)
    const lied = fetchFor({ origins: [local] }, { resolve: async () => ['10.0.0.1'] })
    await expect(lied(local)).rejects.toThrow(refused)
  })

  it.each(['127.0.0.1', '10.1.2.3', '192.168.0.1', '169.254.1.1', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
    'is not %s by a name that the owner gave',
    async (address) => {
      const fetch = fetchFor(
        { origins: ['http://mcp.example'] },
        { ...pretend(), resolve: async () => [PUBLIC, address] },
      )
      await expect(fetch('http://mcp.example/')).rejects.toThrow(refused)
      expect(web.dialled).toEqual([])
    },
  )

  it('is a private address that the owner wrote, or whose range is open', async () => {
    const spelled = fetchFor({ origins: ['http://10.1.2.3'] }, pretend())
    expect((await spelled('http://10.1.2.3/')).status).toBe(200)
    const guard = { ...pretend(), resolve: async () => ['10.1.2.4'], privateRanges: ['10.0.0.0/8'] }
    expect((await fetchFor({ origins: ['http://mcp.example'] }, guard)('http://mcp.example/')).status).toBe(200)
  })

  it('is never metadata, not even spelt out, nor what the owner blocks', async () => {
    const metadata = fetchFor({ origins: ['http://169.254.169.254'] }, { ...pretend(), privateRanges: ['0.0.0.0/0'] })
    await expect(metadata('http://169.254.169.254/latest')).rejects.toThrow(refused)
    await expect(fetchFor({}, { blockedRanges: ['127.0.0.0/8'] })(origin())).rejects.toThrow(refused)
    expect(web.dialled).toEqual([])
  })

  it('is the address that was judged: a name that changes meanwhile changes nothing', async () => {
    const clock = fakeClock()
    const answers = [[PUBLIC], ['127.0.0.1']]
    const fetch = fetchFor(
      { origins: ['http://mcp.example'] },
      { ...pretend(), clock, resolve: async () => answers.shift()! },
    )
    await (await fetch('http://mcp.example/')).text()
    expect(web.dialled).toEqual([PUBLIC])
    await clock.advance(60_000)
    await expect(fetch('http://mcp.example/')).rejects.toThrow(refused)
    expect(web.dialled).toEqual([PUBLIC])
  })

  it('is any public host over https when that was said, and no private one, whatever is open', async () => {
    const fetch = fetchFor(
      { publicHosts: true },
      {
        ...pretend(),
        privateRanges: ['10.0.0.0/8'],
        resolve: async (host) => [host === 'auth.example' ? PUBLIC : '10.0.0.1'],
      },
    )
    // The server of the test speaks no TLS, so that only the way there can be seen.
    await expect(fetch('https://auth.example/')).rejects.toThrow(code('UPSTREAM_ERROR'))
    expect(web.dialled).toEqual([PUBLIC])
    await expect(fetch('http://auth.example/')).rejects.toThrow(refused)
    await expect(fetch('https://intranet.example/')).rejects.toThrow(refused)
    await expect(fetch('https://127.0.0.1/')).rejects.toThrow(refused)
    expect(web.dialled).toEqual([PUBLIC])
  })
})

describe('redirects', () => {
  const redirect = (status: number, location: string) => {
    web.answer = (request, response) => {
      if (request.url === '/old') response.writeHead(status, { location }).end('moved')
      else void echo(request, response)
    }
  }

  it('are followed within the service, with all headers', async () => {
    redirect(307, '/new')
    const response = await fetchFor()(`${origin()}/old`, { method: 'POST', body: 'b', headers: { authorization: 'x' } })
    expect(response).toMatchObject({ redirected: true, url: `${origin()}/new` })
    expect(await response.json()).toMatchObject({ method: 'POST', body: 'b', headers: { authorization: 'x' } })
  })

  it('carry no credentials to another origin', async () => {
    redirect(302, 'http://two.example/new')
    const fetch = fetchFor({ origins: ['http://one.example', 'http://two.example'] }, pretend())
    const headers = { authorization: 'x', cookie: 'y', 'x-api-key': 'z', 'mcp-session-id': 's', accept: 'text/plain' }
    const answer = (await (await fetch('http://one.example/old', { headers })).json()) as Echo
    expect(Object.keys(answer.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })

  it('carry no body to another origin', async () => {
    redirect(307, 'http://two.example/new')
    const fetch = fetchFor({ origins: ['http://one.example', 'http://two.example'] }, pretend())
    await expect(fetch('http://one.example/old', { method: 'POST', body: 'secret' })).rejects.toThrow(refused)
    expect(web.dialled).toEqual([PUBLIC])
  })

  it.each(['http://169.254.169.254/latest', 'https://evil.example/', 'http://127.0.0.1:9/', '//evil.example/'])(
    'to %s are refused',
    async (location) => {
      redirect(302, location)
      await expect(fetchFor()(`${origin()}/old`)).rejects.toThrow(refused)
    },
  )

  it('to metadata are refused also where public hosts are open', async () => {
    redirect(302, 'https://169.254.169.254/latest')
    await expect(fetchFor({ publicHosts: true })(`${origin()}/old`)).rejects.toThrow(refused)
  })

  it('end after five', async () => {
    let asked = 0
    web.answer = (_, response) => response.writeHead(302, { location: `/${++asked}` }).end()
    await expect(fetchFor()(origin())).rejects.toThrow(/redirected more than 5 times/)
    expect(asked).toBe(6)
  })

  it('are given as they are, or refused, when the client says so', async () => {
    redirect(302, 'https://evil.example/')
    const response = await fetchFor()(`${origin()}/old`, { redirect: 'manual' })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('https://evil.example/')
    expect(await response.text()).toBe('moved')
    await expect(fetchFor()(`${origin()}/old`, { redirect: 'error' })).rejects.toThrow(/redirects \(302\)/)
    expect((await fetchFor()(`${origin()}/new`, { redirect: 'error' })).status).toBe(200)
  })
})
