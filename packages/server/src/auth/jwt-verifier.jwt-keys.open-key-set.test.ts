import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { WebFetch } from '../../../core/src/source.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { openKeySet } from './jwt-verifier.ts'

const HINT = 'Try again in a few seconds; the owner sees to it that the authorization server can be reached.'
const DISCOVERY = '/.well-known/openid-configuration'

interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: string
}

let server: Server
let issuer: string
let keys: string
let asked: string[] = []
const answers = new Map<string, Answer>()
const inits: (RequestInit | undefined)[] = []
const fetchNoting: WebFetch = (url, init) => {
  inits.push(init)
  return fetch(url, init)
}

beforeAll(async () => {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true })
  keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] })
  server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const { status = 200, headers, body } = answers.get(url) ?? { status: 404, body: '{}' }
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
  inits.length = 0
  answers.clear()
  answers.set('/jwks', { body: keys })
  answers.set(DISCOVERY, { body: JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }) })
})

/** Finds the one key, with or without knowing where keys are. */
async function findKey(options: { readonly jwksUri?: string; readonly clock?: ReturnType<typeof fakeClock> } = {}) {
  const { clock = fakeClock(), ...rest } = options
  const config = { issuer, audience: 'hub', scopesClaim: 'scope', ...rest }
  const find = await openKeySet(config, fetchNoting, clock)
  return find({ alg: 'ES256', kid: 'one' }, { payload: '', signature: '' })
}

const unavailable = (why: string) => ({
  code: 'UPSTREAM_ERROR',
  message: `The keys of ${issuer} cannot be had: ${why}.`,
  fix: { hint: HINT },
})

it('finds a key where the server says its keys are, without following it elsewhere and not for ever', async () => {
  expect(await findKey()).toMatchObject({ type: 'public' })
  expect(asked).toEqual([DISCOVERY, '/jwks'])
  expect(inits).toMatchObject([
    { redirect: 'manual', signal: expect.any(AbortSignal) },
    { redirect: 'manual', signal: expect.any(AbortSignal) },
  ])
})

it.each<[string, Answer, string]>([
  ['says no', { status: 500, body: '{}' }, 'it answers 500'],
  ['answers another success', { status: 201, body: '{}' }, 'it answers 201'],
  ['sends elsewhere', { status: 302, headers: { location: '/elsewhere' }, body: '{}' }, 'it answers 302'],
])('believes no server that %s', async (_, answer, why) => {
  answers.set('/elsewhere', answers.get(DISCOVERY)!)
  answers.set(DISCOVERY, answer)
  await expect(findKey()).rejects.toMatchObject(unavailable(why))
  answers.set('/elsewhere', answers.get('/jwks')!)
  answers.set('/jwks', answer)
  await expect(findKey({ jwksUri: `${issuer}/jwks` })).rejects.toMatchObject(unavailable(why))
})

it.each<[string, () => object]>([
  ['calls itself otherwise', () => ({ issuer: 'https://evil.example', jwks_uri: `${issuer}/jwks` })],
  ['does not say where', () => ({ issuer })],
  ['names a place that anybody can change', () => ({ issuer, jwks_uri: 'http://evil.example/jwks' })],
])('does not ask a server for keys that %s', async (_, said) => {
  answers.set(DISCOVERY, { body: JSON.stringify(said()) })
  await expect(findKey()).rejects.toMatchObject(unavailable(`${issuer}${DISCOVERY} does not say where they are`))
  expect(asked).toEqual([DISCOVERY])
})

it('says that something else came, and why', async () => {
  answers.set('/jwks', { body: '{"keys":7}' })
  await expect(findKey({ jwksUri: `${issuer}/jwks` })).rejects.toMatchObject({
    ...unavailable('it gives something else'),
    cause: expect.any(Error),
  })
  answers.set('/jwks', { body: '<html>' })
  await expect(findKey({ jwksUri: `${issuer}/jwks` })).rejects.toMatchObject({
    code: 'UPSTREAM_ERROR',
    cause: expect.any(SyntaxError),
  })
})

it('reads a million bytes of keys and no more', async () => {
  const padded = (bytes: number) => ({ body: `${keys}${' '.repeat(bytes - keys.length)}` })
  answers.set('/jwks', padded(1_000_000))
  expect(await findKey({ jwksUri: `${issuer}/jwks` })).toMatchObject({ type: 'public' })
  answers.set('/jwks', padded(1_000_001))
  await expect(findKey({ jwksUri: `${issuer}/jwks` })).rejects.toMatchObject(
    unavailable('its answer has more than 1000000 bytes'),
  )
})

it('fetches the keys again immediately for a new key, once for all tokens that wait, and at most every five seconds', async () => {
  const clock = fakeClock()
  const config = { issuer, audience: 'hub', scopesClaim: 'scope', jwksUri: `${issuer}/jwks` }
  const find = await openKeySet(config, fetchNoting, clock)
  const key = (kid: string) => find({ alg: 'ES256', kid }, { payload: '', signature: '' })
  const missing = { code: 'ERR_JWKS_NO_MATCHING_KEY' }
  expect(await key('one')).toMatchObject({ type: 'public' })
  const rotate = (kid: string) => answers.set('/jwks', { body: keys.replace('"one"', JSON.stringify(kid)) })
  rotate('two')
  const found = await Promise.all([key('two'), key('two'), key('two')])
  expect(found).toMatchObject([{ type: 'public' }, { type: 'public' }, { type: 'public' }])
  expect(asked).toEqual(['/jwks', '/jwks'])
  for (let count = 0; count < 20; count++) await expect(key(`garbage-${count}`)).rejects.toMatchObject(missing)
  expect(asked).toHaveLength(2)
  rotate('three')
  await clock.advance(4_999)
  await expect(key('three')).rejects.toMatchObject(missing)
  await clock.advance(1)
  expect(await key('three')).toMatchObject({ type: 'public' })
  for (let count = 0; count < 20; count++) await expect(key(`garbage-${count}`)).rejects.toMatchObject(missing)
  expect(asked).toHaveLength(3)
})

it('does not fetch the keys twice for a first token that names an unknown one', async () => {
  const find = await openKeySet({ issuer, audience: 'hub', scopesClaim: 'scope' }, fetchNoting, fakeClock())
  const key = find({ alg: 'ES256', kid: 'garbage' }, { payload: '', signature: '' })
  await expect(key).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
  expect(asked).toEqual([DISCOVERY, '/jwks'])
})

it('leaves a server alone for five seconds after it failed', async () => {
  const clock = fakeClock()
  const config = { issuer, audience: 'hub', scopesClaim: 'scope', jwksUri: `${issuer}/jwks` }
  const find = await openKeySet(config, fetchNoting, clock)
  const key = () => find({ alg: 'ES256', kid: 'one' }, { payload: '', signature: '' })
  answers.set('/jwks', { status: 503, body: '{}' })
  await expect(key()).rejects.toMatchObject(unavailable('it answers 503'))
  answers.set('/jwks', { body: keys })
  await clock.advance(4_999)
  await expect(key()).rejects.toMatchObject(unavailable('it did not answer a moment ago'))
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  expect(await key()).toMatchObject({ type: 'public' })
})
