import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { eventually } from '../../../../test/support/eventually.ts'
import { startWire, type Wire } from '../../../../test/support/wire.ts'
import { HttpRefusal } from '../../../core/src/errors.ts'
import { keepBytes } from '../../../server/src/http/request.ts'
import { type FakeClock, fakeClock } from '../../../testing/src/index.ts'
import type { ForwardableIdentity } from './call-router.ts'
import { ClusterKey } from './envelope.ts'
import { type ForwardedAnswer, type ForwardedRequest, Forwarder } from './forwarder.ts'
import { InternalServer, type InternalServerOptions } from './internal-server.ts'
import { relaySocket } from './relay-socket.ts'
import type { Membership, Place } from './run-places.ts'

const key = new ClusterKey(Buffer.alloc(32, 7))

let clock: FakeClock
let wire: Wire
let owner: Owner
let forwarder: Forwarder
let place: Place
beforeEach(async () => {
  clock = fakeClock()
  owner = await startOwner()
  wire = await startWire(Number(new URL(owner.url).port))
  place = { process: 'owner', address: wire.url }
  forwarder = new Forwarder({ member: memberOf('sender'), key, clock, log: () => {} })
})
afterEach(async () => {
  await forwarder.close()
  wire.close()
  await owner.close()
})

describe('a forwarded request', () => {
  it('is given up after about 30 s if nothing gets through any more, on a connection that was idle', async () => {
    await sendTo('/whole')
    wire.isCut = true
    const lost = failure(sendTo('/hold'))
    expect(await endsWithin(lost, 30_000)).toMatchObject({ status: 502, code: 'UPSTREAM_ERROR' })
  })

  it('is refused before it is sent while the process does not answer, and answered when it does again', async () => {
    await sendTo('/whole')
    wire.isCut = true
    await endsWithin(failure(sendTo('/hold')), 30_000)
    const before = owner.asked
    const refused = await endsWithin(failure(sendTo('/whole')), 10_000)
    expect(refused).toMatchObject({ status: 503, code: 'UPSTREAM_ERROR' })
    expect(owner.asked).toBe(before)
    wire.isCut = false
    expect(String((await sendTo('/whole')).body)).toBe('whole')
  })

  it('is given up if only its own connection is dead: other requests are answered', async () => {
    await sendTo('/whole')
    wire.losesNext = true
    expect(await endsWithin(failure(sendTo('/hold')), 30_000)).toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(owner.held).toHaveLength(0)
    expect(String((await sendTo('/whole')).body)).toBe('whole')
  })

  it('is given up if its answer was lost on the way', async () => {
    const sending = failure(sendTo('/hold'))
    await eventually(() => expect(owner.held).toHaveLength(1))
    wire.cutOpen()
    owner.held[0]!.end('late')
    expect(await endsWithin(sending, 35_000)).toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  it('is given up if its stream stops arriving', async () => {
    const { body } = await sendTo('/stream')
    const read = readAll(body as Readable)
    const failed = failure(read)
    await eventually(() => expect(owner.held).toHaveLength(1))
    wire.cutOpen()
    owner.held[0]!.write('lost')
    expect(String(await endsWithin(failed, 35_000))).toMatch(/nothing has arrived from it for \d+ s/)
  })

  it('is never given up over a healthy connection, however long it takes', async () => {
    const sending = sendTo('/hold')
    const streaming = await sendTo('/stream')
    await eventually(() => expect(owner.held).toHaveLength(2))
    await pass(600_000)
    for (const response of owner.held) response.end('done')
    expect(String((await sending).body)).toBe('done')
    expect(await readAll(streaming.body as Readable)).toBe('begundone')
  })

  it('is not given up because of a process that does not know the question', async () => {
    owner.isOld = true
    const sending = sendTo('/hold')
    await eventually(() => expect(owner.held).toHaveLength(1))
    await pass(120_000)
    owner.held[0]!.end('done')
    expect(String((await sending).body)).toBe('done')
  })

  it('is not given up because its reader is slow', async () => {
    const { body } = await sendTo('/large')
    await pass(120_000)
    expect((await readAll(body as Readable)).length).toBe(5_000_000)
  })
})

describe('a relayed WebSocket', () => {
  it('ends after about 30 s if nothing gets through any more', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const peers = await startWire((server.address() as AddressInfo).port)
    onTestFinished(() => peers.close())
    const clients = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => void clients.close())
    await once(clients, 'listening')
    const outer = new WebSocket(`ws://127.0.0.1:${(clients.address() as AddressInfo).port}`)
    onTestFinished(() => outer.terminate())
    const [client] = (await once(clients, 'connection')) as [WebSocket]
    const url = peers.url.replace('http', 'ws')
    const socket = { client, identity: {} as never, hello: '{}', early: [], maxBytes: 1_000 }
    await relaySocket(socket, { url, headers: {}, isSigned: () => true, clock })
    const closed = once(outer, 'close')
    const pings = () => once([...server.clients][0]!, 'ping')
    for (let round = 0; round < 20; round++) await Promise.all([pings(), clock.advance(7_500)])
    expect(outer.readyState).toBe(WebSocket.OPEN)
    peers.isCut = true
    const [code] = (await endsWithin(closed, 35_000)) as [number]
    expect(code).toBe(1012)
  })
})

function sendTo(path: string, request: Partial<ForwardedRequest> = {}): Promise<ForwardedAnswer> {
  const caller = { name: 'token:ada', scopes: new Set(['call']) }
  const identity = { caller, credential: () => ({ type: 'owner' }) } as never
  return forwarder.send(place, { method: 'GET', path, headers: { host: 'localhost' }, identity, ...request })
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('It was answered.'),
    (error) => (error instanceof HttpRefusal ? { ...error, status: error.status, code: error.code } : error),
  )
}

/** Moves the clock in steps in which real connections can answer, until the work ends or the time is over. */
async function endsWithin<T>(work: Promise<T>, ms: number): Promise<T> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  for (let passed = 0; passed < ms && !isDone; passed += 500) await pass(500)
  expect(isDone).toBe(true)
  return work
}

/** A question to the owner has its answer before time advances: it has a timer, as the watch over the requests has. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await clock.advance(500)
    if (!wire.isCut) await eventually(() => expect(clock.waiting).toBeLessThanOrEqual(1), { interval: 1 })
  }
}

async function readAll(body: Readable): Promise<string> {
  let text = ''
  for await (const chunk of body) text += chunk
  return text
}

function memberOf(id: string): Membership {
  const processes = () => [{ id: 'owner', isAlive: true }]
  return { id, processes, placeOf: () => undefined, leaseOf: () => undefined } as never
}

interface Owner {
  readonly url: string
  /** Responses that a test ends. */
  readonly held: ServerResponse[]
  /** Requests of callers so far. */
  asked: number
  /** Whether it is of a version without the question about progress. */
  isOld: boolean
  close(): Promise<void>
}

/** The internal listener of a process whose requests are answered as their path says. */
async function startOwner(): Promise<Owner> {
  const state: Owner = { url: '', held: [], asked: 0, isOld: false, close: async () => {} }
  const listener = ({ url }: { url?: string }, response: ServerResponse) => {
    state.asked++
    if (url === '/whole') return response.writeHead(200).end('whole')
    if (url === '/large') {
      response.writeHead(200).flushHeaders()
      return response.end('x'.repeat(5_000_000))
    }
    if (url === '/stream') response.writeHead(200).write('begun')
    return state.held.push(response)
  }
  const identify = async () => ({ caller: { name: 'token:ada', scopes: new Set(['call']) } })
  const member = memberOf('owner')
  const options = { member, key, clock, log: () => {}, identify }
  const service = {
    headers: {},
    handle: listener,
    readBody: (request: IncomingMessage) => keepBytes(request, 1_000_000),
    report: () => {},
  }
  const server = new InternalServer({
    ...options,
    service,
    received: new WeakMap(),
    events: {},
  } as unknown as InternalServerOptions<ForwardableIdentity>)
  const url = await server.listen('127.0.0.1', 0)
  return Object.assign(state, { url, close: () => server.close({ graceMs: 0 }) })
}
