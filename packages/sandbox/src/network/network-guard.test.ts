import { execFile } from 'node:child_process'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { promisify } from 'node:util'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createNetworkGuard, type NetworkCall, type NetworkGuard, type NetworkGuardOptions } from './network-guard.ts'

const PUBLIC = '93.184.216.34'

let server: Server
let port: number
let answer: RequestListener
let dialled: string[]
let guards: NetworkGuard[]

beforeEach(async () => {
  answer = (_, response) => response.end('ok')
  dialled = []
  guards = []
  server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(guards.map((guard) => guard.close()))
  server.closeAllConnections()
  server.close()
})

/** A guard whose every name is public and whose every connection ends at the local server. */
function makeGuard(options: Partial<NetworkGuardOptions> = {}): NetworkGuard {
  const guard = createNetworkGuard({
    allowedHosts: ['*'],
    privateRanges: [],
    maxBytes: 10_000,
    timeoutMs: 20_000,
    userAgent: 'hub/1',
    resolve: async () => [PUBLIC],
    dial(address) {
      dialled.push(address)
      return connect(port, '127.0.0.1')
    },
    ...options,
  })
  guards.push(guard)
  return guard
}

const never = new AbortController().signal
const fetchWith = (options?: Partial<NetworkGuardOptions>, call: Partial<NetworkCall> = {}) =>
  makeGuard(options).handle({ signal: () => never, ...call })
const code = (expected: string) => expect.objectContaining({ code: expected })

describe('what may be reached', () => {
  it('fetches a page from an allowed host', async () => {
    answer = (request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify([request.method, request.headers.host, request.headers['user-agent'], request.url]))
    }
    const response = await fetchWith({ allowedHosts: ['example.com'] })('http://EXAMPLE.com/a?b#c')
    expect(response).toMatchObject({ status: 200, url: 'http://example.com/a?b' })
    expect(JSON.parse(await response.text())).toEqual(['GET', 'example.com', 'hub/1', '/a?b'])
    expect(dialled).toEqual([PUBLIC])
  })

  it('names both settings that a host of this machine needs', () => {
    const guard = makeGuard({ allowedHosts: [] })
    const hint = expect.stringContaining('add 127.0.0.1 to sandbox.network and 127.0.0.1/32 to sandbox.privateRanges.')
    expect(() => guard.resolve('http://127.0.0.1:8080/')).toThrow(
      expect.objectContaining({ fix: expect.objectContaining({ hint }) }),
    )
  })

  it('asks no resolver about a host that is not allowed', async () => {
    const resolve = vi.fn()
    const guard = makeGuard({ allowedHosts: ['example.com'], resolve })
    const hint = expect.stringMatching(/\(example\.com\).* add evil\.example to sandbox\.network/)
    expect(() => guard.resolve('http://evil.example/')).toThrow(
      expect.objectContaining({ code: 'HTTP_DISALLOWED_HOST', fix: expect.objectContaining({ hint }) }),
    )
    await expect(guard.handle({ signal: () => never })('http://evil.example/')).rejects.toThrow(
      code('HTTP_DISALLOWED_HOST'),
    )
    expect(resolve).not.toHaveBeenCalled()
    expect(guard.resolve('HTTP://example.com.:80/#x')).toBe('http://example.com/')
  })

  it('dials nothing when one of the answers is not public', async () => {
    for (const bad of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '::1',
      '::ffff:127.0.0.1',
      '2002:7f00:1::',
      'fd00:ec2::254',
      'junk',
    ]) {
      const fetch = fetchWith({ resolve: async () => [PUBLIC, bad] })
      await expect(fetch('http://rebind.example/'), bad).rejects.toThrow(code('HTTP_DISALLOWED_HOST'))
    }
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', 'localhost', '2130706433', '0177.0.0.1']) {
      await expect(fetchWith()(`http://${host}/`), host).rejects.toThrow(ToolError)
    }
    expect(dialled).toEqual([])
  })

  it('resolves once and dials what it judged, whatever the resolver says next', async () => {
    const answers = [[PUBLIC], ['169.254.169.254']]
    const fetch = fetchWith({ resolve: async () => answers.shift() ?? [] })
    expect(await (await fetch('http://rebind.example/')).text()).toBe('ok')
    await expect(fetch('http://rebind.example/')).rejects.toThrow(code('HTTP_DISALLOWED_HOST'))
    expect(dialled).toEqual([PUBLIC])
  })

  it('really connects to a private range that the owner opened, and to no other', async () => {
    const options = { privateRanges: ['127.0.0.1/32'], dial: undefined, resolve: undefined }
    expect(await (await fetchWith(options)(`http://127.0.0.1:${port}/`)).text()).toBe('ok')
    await expect(fetchWith(options)(`http://127.0.0.2:${port}/`)).rejects.toThrow(code('HTTP_DISALLOWED_HOST'))
  })

  it('tries the next address when nobody takes the connection', async () => {
    const privateRanges = ['127.0.0.0/8']
    const options = { privateRanges, dial: undefined, resolve: async () => ['127.0.0.9', '127.0.0.1'] }
    expect(await (await fetchWith(options)(`http://dev.example:${port}/`)).text()).toBe('ok')
    const nobody = fetchWith({ ...options, resolve: async () => ['127.0.0.9'] })
    await expect(nobody(`http://dev.example:${port}/`)).rejects.toThrow(code('UPSTREAM_ERROR'))
  })

  it('ignores the proxies of the environment', async () => {
    for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:9')
    expect((await fetchWith()('http://example.com/')).status).toBe(200)
    expect(dialled).toEqual([PUBLIC])
  })

  it('keeps a connection for the same address only', async () => {
    let addresses = [PUBLIC]
    const fetch = fetchWith({ resolve: async () => addresses })
    for (let round = 0; round < 10; round += 1) await fetch('http://example.com/')
    const kept = dialled.length
    expect(kept).toBeLessThan(4)
    addresses = ['93.184.216.35']
    await fetch('http://example.com/')
    expect(dialled.slice(kept)).toEqual(addresses)
  })
})

describe('redirects', () => {
  const redirect = (to: (path: string) => string | undefined) => {
    answer = (request, response) => {
      const location = to(request.url ?? '')
      if (location !== undefined) response.writeHead(302, { location })
      response.end(JSON.stringify(request.headers))
    }
  }

  it('are followed by hand, every hop permitted, credentials left behind', async () => {
    redirect((path) => ({ '/1': '/2', '/2': 'http://other.example/3' })[path])
    const asked: string[] = []
    const fetch = fetchWith({}, { permits: (url) => asked.push(url) })
    const response = await fetch('http://example.com/1', { headers: { Authorization: 'secret', Cookie: 'secret' } })
    expect(response.url).toBe('http://other.example/3')
    expect(asked).toEqual(['http://example.com/1', 'http://example.com/2', 'http://other.example/3'])
    expect(await response.text()).not.toContain('secret')
  })

  it('lead to nothing that could not be asked for directly', async () => {
    const resolve = async (host: string) => (host === 'private.example' ? ['10.0.0.1'] : [PUBLIC])
    const targets = [
      'http://127.0.0.1/',
      'http://private.example/',
      '//evil.example/',
      'http://localhost/',
      'file:///etc/passwd',
    ]
    for (const target of targets) {
      redirect((path) => (path === '/' ? target : undefined))
      const fetch = fetchWith({ allowedHosts: ['example.com', 'private.example', '127.0.0.1'], resolve })
      await expect(fetch('http://example.com/'), target).rejects.toThrow(code('HTTP_DISALLOWED_HOST'))
    }
    expect(new Set(dialled)).toEqual(new Set([PUBLIC]))
  })

  it('stop where policy did not decide', async () => {
    redirect((path) => (path === '/' ? '/admin' : undefined))
    const permits = (url: string) => {
      if (url.endsWith('admin')) throw new ToolError('POLICY_DENIED', 'not decided')
    }
    await expect(fetchWith({}, { permits })('http://example.com/')).rejects.toThrow(code('POLICY_DENIED'))
  })

  it('end after five', async () => {
    let hops = 0
    redirect(() => {
      hops += 1
      return `/${hops}`
    })
    await expect(fetchWith()('http://example.com/')).rejects.toThrow(/more than 5 times/)
    expect(hops).toBe(6)
  })
})

describe('the error of the call', () => {
  it('asks whether data may be sent, on every hop that still sends', async () => {
    answer = (request, response) => {
      const location = { '/1': '/2', '/2': '/3' }[request.url!]
      if (location) response.writeHead(request.url === '/1' ? 307 : 303, { location })
      response.end()
    }
    const asked: string[] = []
    const permits = (url: string, capability: string) => asked.push(`${capability} ${new URL(url).pathname}`)
    await fetchWith({}, { permits })('http://example.com/1', { method: 'POST', body: 'x' })
    expect(asked).toEqual(['network /1', 'send /1', 'network /2', 'send /2', 'network /3'])
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
      const refuse = (_: string, capability: string) => {
        if (capability === 'send') throw new ToolError('POLICY_DENIED', 'nothing leaves')
      }
      await expect(fetchWith({}, { permits: refuse })('http://example.com/', { method }), method).rejects.toThrow(
        code('POLICY_DENIED'),
      )
    }
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      asked.length = 0
      await fetchWith({}, { permits })('http://example.com/', { method })
      expect(asked, method).toEqual(['network /'])
    }
  })

  it('sends no byte before the intent is on record', async () => {
    const order: string[] = []
    answer = (_, response) => {
      order.push('asked')
      response.end()
    }
    const beforeSend = async () => {
      await new Promise(setImmediate)
      order.push('recorded')
    }
    const fetch = fetchWith({}, { beforeSend, onAnswer: () => order.push('answered') })
    await fetch('http://example.com/', { method: 'POST', body: 'x' })
    await fetch('http://example.com/')
    expect(order).toEqual(['recorded', 'asked', 'answered', 'asked', 'answered'])
    const failing = fetchWith({}, { beforeSend: () => Promise.reject(new ToolError('RECORDS_UNAVAILABLE', 'full')) })
    await expect(failing('http://example.com/', { method: 'POST' })).rejects.toThrow(code('RECORDS_UNAVAILABLE'))
    expect(order.length).toBe(5)
  })
})

it('refuses what the owner blocks, public or opened', async () => {
  const blockedRanges = ['93.184.0.0/16', '127.0.0.0/8', '2606::/16']
  await expect(fetchWith({ blockedRanges })('http://example.com/')).rejects.toThrow(
    /which is in a range that the owner/,
  )
  for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '[2606:4700::1]', '[64:ff9b::5db8:d822]']) {
    const fetch = fetchWith({ blockedRanges, privateRanges: ['127.0.0.1'] })
    await expect(fetch(`http://${host}/`), host).rejects.toThrow(code('HTTP_DISALLOWED_HOST'))
  }
  expect(dialled).toEqual([])
})

it('lets a request set its own time, within reason', async () => {
  const clock = fakeClock()
  answer = () => {}
  const fetch = fetchWith({ clock, timeoutMs: 1000 })
  const slow = expect(fetch('http://example.com/', { timeoutMs: 900_000 })).rejects.toThrow(/finish in 120000 ms/)
  const quick = expect(fetch('http://example.com/', { timeoutMs: 10 })).rejects.toThrow(/finish in 10 ms/)
  const usual = expect(fetch('http://example.com/')).rejects.toThrow(/finish in 1000 ms/)
  await clock.advance(10)
  await quick
  await clock.advance(990)
  await usual
  await clock.advance(119_000)
  await slow
  for (const timeoutMs of [0, -1, Number.NaN])
    await expect(fetch('http://example.com/', { timeoutMs })).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
})

it('lets the process end while connections are kept', async () => {
  const entry = await bundleModule('packages/sandbox/src/network/network-guard.ts')
  const script = `
    import { createServer } from 'node:http'
    import { createNetworkGuard } from ${JSON.stringify(entry)}
    const guard = createNetworkGuard({ allowedHosts: ['*'], privateRanges: ['127.0.0.1'], maxBytes: 99, timeoutMs: 60000, userAgent: 'x' })
    const fetch = guard.handle({ signal: () => new AbortController().signal })
    const response = await fetch('http://127.0.0.1:${port}/')
    await response.text()
    await new Promise(setImmediate)
    console.log(JSON.stringify(process.getActiveResourcesInfo()))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  // undici keeps an idle connection for four seconds: it may be open, but nothing may wait for it.
  expect(JSON.parse(stdout)).not.toContain('TCPSocketWrap')
})

it('is over after close', async () => {
  const guard = makeGuard()
  const fetch = guard.handle({ signal: () => never })
  await fetch('http://example.com/')
  await guard.close()
  await expect(fetch('http://example.com/')).rejects.toThrow(code('ABORTED'))
})
