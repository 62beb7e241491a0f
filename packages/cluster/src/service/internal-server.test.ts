import type { RequestListener } from 'node:http'
import { sha256 } from '@tool-hub/core/lib'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type ClusterService,
  newProcess,
  pretend,
  type ServedCluster,
  serveCluster,
  type Token,
  whoami,
} from '../../../../test/support/cluster-served.ts'
import type { Store } from '../../../core/src/store.ts'
import { hashSecret } from '../../../server/src/auth/token.ts'
import { ClusterKey, type Envelope, hashHeaders, newNonce, SeenNonces } from './envelope.ts'

const PATH = '/v1/tools/whoami/call'
const BODY = JSON.stringify({ run: 'r1' })

let cluster: ServedCluster
let first: ClusterService
let second: ClusterService
let store: Store
let ada: Token
let key: ClusterKey
let address: string
beforeAll(async () => {
  cluster = await serveCluster(2, { tools: [whoami] })
  ;[first, second] = cluster.services as [ClusterService, ClusterService]
  store = second.store
  key = new ClusterKey(await store.settings.secret('cluster'))
  ada = await cluster.newToken('ada', ['call', 'read'])
  await second.fetch(PATH, { token: ada.secret, json: { run: 'r1' } })
  address = second.address
})
afterAll(() => cluster.close())
beforeEach(() => {
  first.log.length = 0
  second.log.length = 0
})

const HEADERS = { host: 'localhost', 'content-type': 'application/json' }

function envelope(changes: Partial<Envelope> = {}): Envelope {
  return {
    from: first.hub.cluster!.id,
    to: second.hub.cluster!.id,
    run: 'r1',
    epoch: second.hub.cluster!.leaseOf('r1')!.epoch,
    method: 'POST',
    path: PATH,
    headers: hashHeaders(HEADERS),
    body: sha256(BODY),
    time: Date.now(),
    nonce: newNonce(),
    caller: {
      name: 'token:ada',
      scopes: ['call', 'read'],
      credential: { type: 'token', hash: hashSecret(ada.secret) },
    },
    ...changes,
  }
}

/** Sends exactly these headers. */
async function send(headers: Record<string, string>, { path = PATH, body = BODY } = {}) {
  const answer = await request(new URL(path, address), { method: 'POST', body, headers: { ...HEADERS, ...headers } })
  const text = await answer.body.text()
  return { status: answer.statusCode, headers: answer.headers, text, json: () => JSON.parse(text) }
}

function refusals(): string[] {
  return second.log.filter(({ event }) => event === 'cluster-refused').map(({ message }) => message)
}

describe('the internal listener', () => {
  it('answers a signed request, with a signed answer', async () => {
    const asked = envelope()
    const response = await send(key.sealRequest(asked))
    expect(response.status).toBe(200)
    expect(response.json()).toMatchObject({ ok: true, data: { run: 'r1' } })
    expect(key.isResponse(asked.nonce, 200, response.headers)).toBe(true)
    expect(key.isResponse(newNonce(), 200, response.headers)).toBe(false)
    expect(key.isResponse(asked.nonce, 201, response.headers)).toBe(false)
  })

  it('tells strangers nothing, whatever they send', async () => {
    const stranger = new ClusterKey(Buffer.alloc(32))
    const attempts = [
      send({}),
      send({ authorization: `Bearer ${ada.secret}` }),
      send(stranger.sealRequest(envelope())),
      send({ ...key.sealRequest(envelope()), 'x-tool-hub-signature': 'AAAA' }),
      send({
        'x-tool-hub-forward': 'e30',
        'x-tool-hub-signature': key.sealRequest(envelope())['x-tool-hub-signature']!,
      }),
      send({}, { path: '/healthz' }),
      send({}, { path: '/cluster/events' }),
    ]
    for (const { status, text, headers } of await Promise.all(attempts))
      expect([status, text, headers['x-tool-hub-signature']]).toEqual([401, '', undefined])
    expect(refusals()).toHaveLength(attempts.length)
  })

  it.each<[string, Partial<Envelope>, RegExp]>([
    ['for another process', { to: 'p-other' }, /another process/],
    ['from long ago', { time: -31_000 }, /30 s away/],
    ['from the future', { time: 31_000 }, /30 s away/],
    ['for another method', { method: 'GET' }, /method or path/],
    ['for another path', { path: '/v1/tools/other/call' }, /method or path/],
    ['with other headers', { headers: hashHeaders({ ...HEADERS, 'idempotency-key': 'k' }) }, /headers were changed/],
    ['with another body', { body: sha256('{}') }, /body was changed/],
  ])('refuses a request %s', async (_, changes, why) => {
    const { time, ...others } = changes
    const late = time === undefined ? {} : { time: Date.now() + time }
    const response = await send(key.sealRequest(envelope({ ...others, ...late })))
    expect([response.status, response.text]).toEqual([401, ''])
    expect(refusals()).toEqual([expect.stringMatching(why)])
  })

  it('refuses a request that was received before', async () => {
    const sealed = key.sealRequest(envelope())
    expect((await send(sealed)).status).toBe(200)
    expect((await send(sealed)).status).toBe(401)
    expect(refusals()).toEqual([expect.stringMatching(/was received before/)])
  })

  it('says where a run is if its lease is another one', async () => {
    const { epoch } = second.hub.cluster!.leaseOf('r1')!
    const stale = await send(key.sealRequest(envelope({ epoch: epoch - 1 })))
    expect([stale.status, stale.json()]).toEqual([409, { place: { process: second.hub.cluster!.id, epoch } }])
    const free = await send(key.sealRequest(envelope({ run: 'r2' })))
    expect([free.status, free.json()]).toEqual([409, {}])
    await first.hub.cluster!.lease('r3', undefined)
    const moved = await send(key.sealRequest(envelope({ run: 'r3' })))
    expect(moved.json()).toMatchObject({ place: { process: first.hub.cluster!.id, address: first.address } })
  })

  it('looks the caller up again, and gives it no more scopes than it had', async () => {
    const { caller } = envelope()
    const less = await send(key.sealRequest(envelope({ caller: { ...caller!, scopes: ['read'] } })))
    expect(less.status).toBe(403)
    const other = await send(key.sealRequest(envelope({ caller: { ...caller!, name: 'token:eve' } })))
    expect(other.status).toBe(401)
    const bob = await cluster.newToken('bob', ['call'])
    await store.tokens.remove(bob.id)
    const gone = { name: 'token:bob', scopes: ['call' as const] }
    const credential = { type: 'token' as const, hash: hashSecret(bob.secret) }
    const revoked = await send(key.sealRequest(envelope({ caller: { ...gone, credential } })))
    expect([revoked.status, revoked.json()]).toMatchObject([401, { error: { code: 'UNAUTHENTICATED' } }])
    const owner = { name: 'owner', scopes: ['call' as const], credential: { type: 'owner' as const } }
    expect((await send(key.sealRequest(envelope({ caller: owner })))).status).toBe(200)
  })

  it('reads no body that is too large', async () => {
    const body = 'x'.repeat(10_000_001)
    const response = await send(key.sealRequest(envelope({ body: sha256(body) })), { body })
    expect([response.status, response.json()]).toMatchObject([413, { error: { code: 'FILE_TOO_LARGE' } }])
  })
})

describe('an answer that is not signed', () => {
  it.each<[string, RequestListener]>([
    ['without a signature', (_, response) => response.end('{"ok":true}')],
    [
      'with the signature of another answer',
      (request, response) => {
        const nonce = key.openRequest(request.headers)!.nonce
        const headers = { 'content-type': 'application/json', 'x-tool-hub-body': sha256('{"ok":true}') }
        const signature = key.signResponse(`${nonce}x`, 200, headers)
        response.writeHead(200, { ...headers, 'x-tool-hub-signature': signature }).end('{"ok":true}')
      },
    ],
    [
      'with another body than the signed one',
      (request, response) => {
        const nonce = key.openRequest(request.headers)!.nonce
        const headers = { 'content-type': 'application/json', 'x-tool-hub-body': sha256('{"ok":false}') }
        const signature = key.signResponse(nonce, 200, headers)
        response.writeHead(200, { ...headers, 'x-tool-hub-signature': signature }).end('{"ok":true}')
      },
    ],
  ])('is not believed: %s', async (_, listener) => {
    const run = await pretend(second, () => listener)
    const response = await first.fetch(PATH, { json: { run } })
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { error: { code: 'UPSTREAM_ERROR', retryable: true, message: expect.stringMatching(/key of the cluster/) } },
    ])
    expect(first.log.filter(({ event }) => event === 'cluster-refused')).toHaveLength(1)
  })
})

it('a process that was restarted at the same address is named as the likely cause, not a wrong signature', async () => {
  const run = `restarted-${second.hub.cluster!.id}`
  await store.processes.beat(newProcess('p-before', second.address))
  await store.runStates.lease(run, { owner: 'p-before' })
  const response = await first.fetch(PATH, { json: { run } })
  const message = expect.stringMatching(/another process answers at its address; it has probably been restarted/)
  expect([response.status, await response.json()]).toMatchObject([503, { error: { code: 'UPSTREAM_ERROR', message } }])
  const [refused] = first.log.filter(({ event }) => event === 'cluster-refused')
  expect(refused?.message).toMatch(/for process p-before, which has probably been restarted/)
  expect(refused?.message).not.toMatch(/signature/)
  expect(refusals()).toEqual([expect.stringMatching(/which was probably at this address before this one started/)])
})

describe('nonces', () => {
  it('are remembered for as long as a request may be valid', () => {
    const seen = new SeenNonces(0)
    expect([seen.add('a', 0), seen.add('a', 59_000), seen.add('b', 61_000), seen.add('a', 61_000)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect([seen.add('b', 120_000), seen.add('b', 300_000)]).toEqual([false, true])
  })

  it('are refused when there are too many to remember', () => {
    const seen = new SeenNonces(0, 2)
    expect([seen.add('a', 0), seen.add('b', 0), seen.add('c', 0)]).toEqual([true, true, false])
  })
})
