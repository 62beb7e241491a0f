import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { ToolError } from '@tool-hub/core/errors'
import type { LogEntry } from '@tool-hub/server'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { startService } from '../packages/server/src/start-service.ts'
import { debianProgram } from './support/debian-program.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/message-hub.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** Without other settings, HAProxy takes a service out after 30 s without DNS. */
const PAST_DEFAULT_HOLD_MS = 36_000

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

it('the load balancer spreads calls, passes WebSockets and event streams on, and leaves out a service that has ended', async () => {
  const [one, two] = [await service('one'), await service('two')]
  const { url } = await balance((text) => text.replaceAll('hub-1:4040', one.place).replaceAll('hub-2:4040', two.place))
  const as = ({ token }: { readonly token: string }) => createClient({ url, token, WebSocket })
  /** A token that is sent with a false address. The services share no store here, so it is that of one of them. */
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.9' }
    return (await fetch(`${url}/v1/me`, { headers })).status
  }
  await eventually(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200))
  // Both refuse it, and both log the address that the load balancer has seen.
  await eventually(async () => {
    await ask('th_nobody')
    for (const { log } of [one, two]) expect(log[0]?.fields.address).toBe('127.0.0.1')
  })

  await two.close()
  // From here on the first one answers everything.
  await eventually(async () => {
    for (let attempt = 0; attempt < 10; attempt++) expect(await ask(one.token)).toBe(200)
  })
  const client = as(one)
  expect(await client.call('test.who', {})).toMatchObject({ ok: true, data: 'one' })
  const socket = await client.connect()
  expect(await socket.call('test.who', {})).toMatchObject({ ok: true, data: 'one' })
  await socket.close()
  // Events arrive while the stream is open: nothing collects them.
  const aborted = new AbortController()
  const events = client.events({ types: ['call'], signal: aborted.signal })
  const first = events.next()
  await eventually(async () => {
    await client.call('test.who', {})
    expect(await Promise.race([first, Promise.resolve('nothing yet')])).not.toBe('nothing yet')
  })
  expect((await first).value).toMatchObject({ type: 'call', call: { tool: 'test.who' } })
  aborted.abort()
  await events.return()
})

it('the load balancer keeps a service while DNS does not answer, and follows it to a new address', async () => {
  const port = await serveReady('127.0.0.1')
  await serveReady('127.0.0.2', port)
  const dns = await serveNames(new Map([['hub-1.test', '127.0.0.1']]))
  const { answer } = await balance((text) =>
    text
      .replaceAll('hub-1:4040', `hub-1.test:${port}`)
      .replace('parse-resolv-conf', `nameserver test 127.0.0.1:${dns.port}`),
  )
  await eventually(async () => expect(await answer()).toEqual([200, 'hub-1', '127.0.0.1']))
  dns.names.set('hub-1.test', '127.0.0.2')
  await eventually(async () => expect(await answer()).toEqual([200, 'hub-1', '127.0.0.2']))
  await dns.close()
  const end = performance.now() + PAST_DEFAULT_HOLD_MS
  // The time is what is tested: nothing in HAProxy says how long it will still keep an address.
  while (performance.now() < end) {
    expect(await answer()).toEqual([200, 'hub-1', '127.0.0.2'])
    await new Promise((next) => setTimeout(next, 250))
  }
}, 180_000)

it('the load balancer keeps services whose names only /etc/hosts knows, for longer than it holds addresses', async () => {
  const port = await serveReady('127.0.0.1')
  // Where localhost has both addresses.
  await serveReady('::1', port).catch(() => {})
  const dns = await serveNames(new Map())
  const { answer } = await balance((text) =>
    text
      .replaceAll('hub-1:4040', `localhost:${port}`)
      .replace('parse-resolv-conf', `nameserver test 127.0.0.1:${dns.port}`)
      .replaceAll(' 24h', ' 1s'),
  )
  await eventually(async () => expect((await answer()).slice(0, 2)).toEqual([200, 'hub-1-fixed']))
})

it('the load balancer sends no new requests to a service that drains, and cuts only those to one that fails', async () => {
  const [one, two] = [await serveSwitched('one'), await serveSwitched('two')]
  const { url, answer } = await balance((text) =>
    text.replaceAll('hub-1:4040', one.place).replaceAll('hub-2:4040', two.place),
  )
  const only = (name: string) =>
    eventually(async () => {
      for (let attempt = 0; attempt < 10; attempt++) expect((await answer())[2]).toBe(name)
    })
  /** Begins a request that only the first service can get, then puts that service into another state. */
  const begin = async (state: 'draining' | 'broken' | 'hanging') => {
    one.state = 'ready'
    two.state = 'draining'
    await only('one')
    const end = fetch(`${url}/slow`).then(
      (response) => response.text(),
      () => 'cut',
    )
    const request = await eventually(() => {
      expect(one.waiting).toHaveLength(1)
      return one.waiting.pop()!
    })
    two.state = 'ready'
    await eventually(async () => expect((await answer())[2]).toBe('two'))
    one.state = state
    await only('two')
    return { end, request }
  }
  for (const state of ['broken', 'hanging'] as const) expect(await (await begin(state)).end).toBe('cut')
  const { end, request } = await begin('draining')
  const { checks } = one
  await eventually(() => expect(one.checks).toBeGreaterThan(checks + 4))
  request.end('finished')
  expect(await end).toBe('finished')
  // A closed port looks like a service that has failed.
  const last = await begin('draining')
  one.close()
  expect(await last.end).toBe('cut')
})

it('the load balancer answers with an error of the API and Retry-After while no service is ready', async () => {
  const { url } = await balance((text) => text)
  const response = await eventually(async () => {
    const found = await fetch(`${url}/v1/tools`)
    expect(found.status).toBe(503)
    return found
  })
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  await expect(createClient({ url, token: 'th_x' }).tools()).rejects.toMatchObject({
    ...{ code: 'UPSTREAM_ERROR', status: 503, retryable: true, message: 'No service is ready.' },
    fix: { hint: expect.stringContaining('idempotency key') },
  })
})

it('every error that the load balancer makes itself has the form of the API', () => {
  const text = readFileSync('deploy/haproxy.cfg', 'utf8')
  const made = [...text.matchAll(/^ {2}http-error status (\d+) content-type application\/json string '(.*)' hdr /gm)]
  expect(made.map(([, status]) => status)).toEqual(['502', '503', '504'])
  for (const [, , body] of made) {
    const { code, message, retryable, fix } = JSON.parse(body!).error
    expect(new ToolError(code, message, fix)).toMatchObject({ code, message, retryable, fix })
  }
})

/** A service behind the load balancer, which it believes. */
async function service(name: string) {
  const home = temporaryFolder()
  const log: LogEntry[] = []
  const who = defineTool({
    name: 'test.who',
    description: 'Says which service it is.',
    input: z.strictObject({}),
    capabilities: [],
    execute: () => name,
  })
  const started = await startService(
    { tools: [who], runs: join(home, 'runs'), data: join(home, 'data') },
    {
      port: 0,
      shutdownMs: 100,
      trustedProxies: ['127.0.0.1'],
      onLog: (entry) => entry.event === 'request-refused' && log.push(entry),
    },
  )
  let closing: Promise<void> | undefined
  const close = () => (closing ??= started.close())
  ends.push(close)
  return { place: new URL(started.url).host, token: started.token, log, close }
}

/** HAProxy with the shipped config, changed as a test needs it; services that a test does not name do not answer. */
async function balance(change: (text: string) => string) {
  const port = await freePort()
  const nowhere = `127.0.0.1:${await freePort()}`
  const config = change(readFileSync('deploy/haproxy.cfg', 'utf8'))
    .replaceAll(/hub-\d:4040/g, nowhere)
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('  default_backend', '  http-response set-header x-server %s\n  default_backend')
  const file = join(temporaryFolder(), 'haproxy.cfg')
  writeFileSync(file, config)
  const haproxy = await debianProgram('haproxy', 'usr/sbin/haproxy')
  await haproxy('-c', '-f', file)
  const balancer = haproxy.start('-f', file)
  const closed = new Promise((done) => balancer.once('close', done))
  ends.push(() => {
    balancer.kill()
    return closed
  })
  const url = `http://127.0.0.1:${port}`
  await eventually(() => fetch(url))
  return {
    url,
    /** Status, server of HAProxy and text of one answer. */
    async answer() {
      const response = await fetch(url)
      return [response.status, response.headers.get('x-server'), await response.text()]
    },
  }
}

/** A server that is ready, drains, cannot record or hangs as a test says, and answers /slow when the test does. */
async function serveSwitched(name: string) {
  const switched = {
    state: 'ready' as 'ready' | 'draining' | 'broken' | 'hanging',
    checks: 0,
    waiting: [] as ServerResponse[],
    place: '',
    close: () => server.close(),
  }
  const server = createServer((request, response) => {
    if (request.url === '/slow') return void switched.waiting.push(response)
    if (switched.state === 'hanging') return
    if (request.url !== '/readyz') return void response.end(name)
    switched.checks++
    const answers = {
      ready: { ok: true },
      draining: { ok: false, part: 'draining' },
      broken: { ok: false, part: 'store' },
    }
    response.writeHead(switched.state === 'ready' ? 200 : 503).end(JSON.stringify(answers[switched.state]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  switched.place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return switched
}

/** A server that is always ready and answers with its address. Returns its port. */
async function serveReady(address: string, port = 0): Promise<number> {
  const server = createServer(({ url }, response) => response.end(url === '/readyz' ? '{"ok":true}' : address)).listen(
    port,
    address,
  )
  await once(server, 'listening')
  ends.push(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return (server.address() as AddressInfo).port
}

/** A DNS server for IPv4 addresses; it answers that other names do not exist. */
async function serveNames(names: Map<string, string>) {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (; query[at]; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const isIpv4 = query.readUInt16BE(at + 1) === 1
    const found = names.get(labels.join('.').toLowerCase())
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(found !== undefined && isIpv4 ? 1 : 0, 6)
    const bytes = (found ?? '').split('.').map(Number)
    const record = found !== undefined && isIpv4 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...bytes] : []
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(record)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  let closing: Promise<unknown> | undefined
  const close = () => (closing ??= new Promise<void>((closed) => socket.close(closed)))
  ends.push(close)
  return { names, port: socket.address().port, close }
}
