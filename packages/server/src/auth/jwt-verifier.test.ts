import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { once } from '../../../core/src/lib/async.ts'
import type { Principal } from '../../../core/src/principal.ts'
import type { WebFetch } from '../../../core/src/source.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createJwtVerifier, type JwtConfig, type JwtVerifierOptions, type Person } from './jwt-verifier.ts'

const AUDIENCE = 'tool-hub'
const clock = fakeClock(Date.now())
const seconds = () => Math.floor(clock.now() / 1_000)

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
let keys: Keys
let others: Keys
let jwk: JWK
let server: Server
let issuer: string
/** What the authorization server answers, by path. */
const answers = new Map<string, () => { status?: number; body: string }>()
let asked: string[] = []

beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true })
  others = await generateKeyPair('ES256')
  jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const { status = 200, body } = answers.get(url)?.() ?? { status: 404, body: '{}' }
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
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
  answers.clear()
  answers.set('/jwks', () => ({ body: JSON.stringify({ keys: [jwk] }) }))
  answers.set('/.well-known/openid-configuration', () => ({
    body: JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }),
  }))
})

const as = (principal: Principal) => ({ name: principal.name, principal }) as unknown as PrincipalHub
const plainFetch: WebFetch = (url, init) => fetch(url, init)

function verifierOf(config: Partial<JwtConfig> = {}, options: Partial<JwtVerifierOptions> = {}) {
  const own = { issuer, audience: AUDIENCE, jwksUri: `${issuer}/jwks`, ...config }
  return createJwtVerifier({ issuers: [own], fetch: plainFetch, hub: { as }, clock, base: '/', ...options })
}

function tokenOf(claims: Record<string, unknown> = {}, alg = 'ES256', header: { typ?: string } = {}): SignJWT {
  const own = { iss: issuer, aud: AUDIENCE, sub: 'ada', scope: 'call read', exp: seconds() + 60, ...claims }
  return new SignJWT(own).setProtectedHeader({ alg, kid: 'one', ...header })
}

/** Padded in claims or header, because Base64 cannot have every length. */
async function tokenOfLength(length: number): Promise<string> {
  for (const typ of ['', 'x', 'xx']) {
    const bare = await tokenOf({ pad: '' }, 'ES256', { typ }).sign(keys.privateKey)
    const near = Math.floor(((length - bare.length) * 3) / 4)
    for (const pad of [near - 1, near, near + 1]) {
      const token = await tokenOf({ pad: 'x'.repeat(pad) }, 'ES256', { typ }).sign(keys.privateKey)
      if (token.length === length) return token
    }
  }
  throw new Error(`no token has ${length} characters`)
}

const pairs = {
  rsa: once(async () => generateKeyPairSync('rsa', { modulusLength: 2_048 })),
  ed25519: once(async () => generateKeyPairSync('ed25519')),
  'P-256': once(async () => generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  'P-384': once(async () => generateKeyPairSync('ec', { namedCurve: 'P-384' })),
  'P-521': once(async () => generateKeyPairSync('ec', { namedCurve: 'P-521' })),
}

describe('a JSON Web Token', () => {
  it('lets in whom its issuer vouches for, and asks for keys once', async () => {
    const verifier = verifierOf()
    const token = await tokenOf().sign(keys.privateKey)
    const people = await Promise.all([verifier.verify(token), verifier.verify(token)])
    expect(people[0]).toEqual({ issuer, subject: 'ada', scopes: ['call', 'read'], expiresAt: (seconds() + 60) * 1_000 })
    expect(people[1]).toEqual(people[0])
    expect(asked).toEqual(['/jwks'])
    const caller = verifier.callerOf(people[0]!)
    expect(caller).toMatchObject({ name: 'user:ada', scopes: new Set(['call', 'read']) })
    expect(caller).not.toHaveProperty('token')
    expect(verifier.callerOf(people[0]!)).toBe(caller)
  })

  it('finds the keys of an issuer whose name has a path and a slash at its end', async () => {
    const tenant = `${issuer}/realms/tools/`
    const body = JSON.stringify({ issuer: tenant, jwks_uri: `${issuer}/jwks` })
    answers.set('/realms/tools/.well-known/openid-configuration', () => ({ body }))
    const verifier = verifierOf({ issuer: tenant, jwksUri: undefined })
    expect(await verifier.verify(await tokenOf({ iss: tenant }).sign(keys.privateKey))).toMatchObject({
      issuer: tenant,
    })
  })

  it('finds the keys by what the issuer says of itself, when nothing else is said', async () => {
    const token = await tokenOf().sign(keys.privateKey)
    expect(await verifierOf({ jwksUri: undefined }).verify(token)).toBeDefined()
    expect(asked).toEqual(['/.well-known/openid-configuration', '/jwks'])
    answers.set('/.well-known/openid-configuration', () => ({
      body: JSON.stringify({ issuer: 'https://evil.example', jwks_uri: `${issuer}/jwks` }),
    }))
    await expect(verifierOf({ jwksUri: undefined }).verify(token)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  it('works with keys that are given, and asks nobody', async () => {
    const jwks = { keys: [jwk as { kty: string }] }
    const token = await tokenOf().sign(keys.privateKey)
    expect(await verifierOf({ jwksUri: undefined, jwks }).verify(token)).toMatchObject({ subject: 'ada' })
    expect(asked).toEqual([])
  })

  it.each<[string, Record<string, unknown>]>([
    ['expired', { exp: Math.floor(Date.now() / 1_000) - 3_600 }],
    ['without an end', { exp: undefined }],
    ['not yet good', { nbf: Math.floor(Date.now() / 1_000) + 3_600 }],
    ['for somebody else', { aud: 'another-service' }],
    ['of an issuer that nobody configured', { iss: 'https://evil.example' }],
    ['of a list of issuers', { iss: ['https://id.example'] }],
    ['about nobody', { sub: undefined }],
    ['about somebody without a name', { sub: '' }],
    ['about a number', { sub: 7 }],
    ['about somebody whose name hides something', { sub: 'ada\u202e' }],
    ['about somebody whose name hides something before it', { sub: '\u202eada' }],
    ['about somebody with an endless name', { sub: 'a'.repeat(300) }],
    ['too long', { pad: 'x'.repeat(10_000) }],
  ])('that is %s opens nothing', async (_, claims) => {
    expect(await verifierOf().verify(await tokenOf(claims).sign(keys.privateKey))).toBeUndefined()
  })

  it('says its issuer as one text', async () => {
    expect(await verifierOf().verify(await tokenOf({ iss: [issuer] }).sign(keys.privateKey))).toBeUndefined()
  })

  it('may be late by less than 30 seconds, for a clock that differs a little', async () => {
    const verifier = verifierOf()
    expect(await verifier.verify(await tokenOf({ exp: seconds() - 29 }).sign(keys.privateKey))).toBeDefined()
    expect(await verifier.verify(await tokenOf({ exp: seconds() - 30 }).sign(keys.privateKey))).toBeUndefined()
  })

  it('ends by the clock of the service', async () => {
    const token = await tokenOf().sign(keys.privateKey)
    const tomorrow = fakeClock(clock.now() + 86_400_000)
    expect(await verifierOf({}, { clock: tomorrow }).verify(token)).toBeUndefined()
  })

  it('has at most 8,192 characters', async () => {
    const verifier = verifierOf()
    for (const [length, isFine] of [
      [8_192, true],
      [8_193, false],
    ] as const) {
      const found = await verifier.verify(await tokenOfLength(length))
      expect(found !== undefined).toBe(isFine)
    }
  })

  it.each([
    ['RS256', 'rsa'],
    ['RS384', 'rsa'],
    ['RS512', 'rsa'],
    ['PS256', 'rsa'],
    ['PS384', 'rsa'],
    ['PS512', 'rsa'],
    ['ES256', 'P-256'],
    ['ES384', 'P-384'],
    ['ES512', 'P-521'],
    ['EdDSA', 'ed25519'],
    ['Ed25519', 'ed25519'],
  ] as const)('may be signed with %s', async (alg, kind) => {
    const { publicKey, privateKey } = await pairs[kind]()
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' } as { kty: string }] }
    const verifier = verifierOf({ jwksUri: undefined, jwks })
    expect(await verifier.verify(await tokenOf({}, alg).sign(privateKey))).toMatchObject({ subject: 'ada' })
  })

  it('that nobody signed, or somebody else, opens nothing', async () => {
    const verifier = verifierOf()
    const claims = { iss: issuer, aud: AUDIENCE, sub: 'ada', scope: 'admin', exp: seconds() + 60 }
    expect(await verifier.verify(new UnsecuredJWT(claims).encode())).toBeUndefined()
    expect(await verifier.verify(await tokenOf().sign(others.privateKey))).toBeUndefined()
    const [head, , signature] = (await tokenOf().sign(keys.privateKey)).split('.')
    const forged = Buffer.from(JSON.stringify(claims)).toString('base64url')
    expect(await verifier.verify(`${head}.${forged}.${signature}`)).toBeUndefined()
    for (const nonsense of ['', 'a.b.c', '..', 'th_x', `${head}.${forged}`])
      expect(await verifier.verify(nonsense)).toBeUndefined()
  })

  it('signed with the public key as if it were a shared secret opens nothing', async () => {
    const { alg: _, ...anyAlgorithm } = jwk
    answers.set('/jwks', () => ({ body: JSON.stringify({ keys: [anyAlgorithm] }) }))
    const verifier = verifierOf()
    const secrets = [await exportSPKI(keys.publicKey), JSON.stringify(jwk), String(jwk.x)]
    for (const secret of secrets) {
      const token = await tokenOf({}, 'HS256').sign(Buffer.from(secret))
      expect(await verifier.verify(token)).toBeUndefined()
    }
    expect(await verifier.verify(await tokenOf().sign(keys.privateKey))).toBeDefined()
  })
})

describe('the scopes of a person', () => {
  it.each<[string, Record<string, unknown>, Partial<JwtConfig>, string[]]>([
    ['from words', { scope: 'openid read fly call' }, {}, ['call', 'read']],
    ['from a list', { scp: ['approve', 7, 'admin'] }, { scopesClaim: 'scp' }, ['approve', 'admin']],
    ['from within', { realm: { roles: ['read'] } }, { scopesClaim: 'realm.roles' }, ['read']],
    ['by a map', { scope: 'ops call' }, { map: { ops: ['approve', 'read'] } }, ['approve', 'read']],
    ['none without a claim', { scope: undefined }, {}, []],
    ['none from what is not a text', { scope: { call: true } }, {}, []],
    ['none from a name that every object has', { scope: 'constructor __proto__' }, { map: { ops: 'call' } }, []],
  ])('come %s', async (_, claims, config, scopes) => {
    const found = await verifierOf(config).verify(await tokenOf(claims).sign(keys.privateKey))
    expect(found?.scopes).toEqual(scopes)
  })
})

describe('several issuers', () => {
  it('keep people of one name apart', async () => {
    const jwks = { keys: [jwk as { kty: string }] }
    const issuers = ['https://a.example', 'https://b.example'].map((each) => ({
      issuer: each,
      audience: AUDIENCE,
      jwks,
    }))
    const verifier = verifierOf({}, { issuers })
    const names = issuers.map(async (each) => {
      const person = await verifier.verify(await tokenOf({ iss: each.issuer }).sign(keys.privateKey))
      return verifier.callerOf(person!)?.name
    })
    expect(await Promise.all(names)).toEqual(['user:https://a.example ada', 'user:https://b.example ada'])
  })

  it('are each held to their limits; one that is gone vouches for nobody', async () => {
    const verifier = verifierOf({ limits: { profile: 'minimal', rate: { perSecond: 5 } } })
    const person = await verifier.verify(await tokenOf().sign(keys.privateKey))
    const caller = verifier.callerOf(person!)!
    const { principal } = caller.hub as unknown as { principal: Principal }
    expect(principal).toMatchObject({ visibility: { profile: 'minimal' }, rate: { perSecond: 5 } })
    expect(JSON.stringify(principal.policy)).toMatch(/"deny":"exec".*allowDanger: true } in service\.oidc/)
    expect(verifier.callerOf({ ...person!, issuer: 'https://gone.example' })).toBeUndefined()
  })

  it('have callers of which 1,000 are remembered, apart by name and scopes', () => {
    const verifier = verifierOf()
    const visit = (subject: string, scopes: Person['scopes'] = []) =>
      verifier.callerOf({ issuer, subject, scopes, expiresAt: 0 })
    const ada = visit('ada')
    expect(visit('ada', ['call'])).not.toBe(ada)
    for (let index = 2; index < 1_000; index++) visit(`person ${index}`)
    expect(visit('ada')).toBe(ada)
    for (let index = 0; index < 1_000; index++) visit(`another ${index}`)
    expect(visit('ada')).not.toBe(ada)
  })
})

describe('keys that cannot be had', () => {
  it.each<[string, () => { status?: number; body: string }]>([
    ['an error', () => ({ status: 500, body: '{}' })],
    ['a redirect', () => ({ status: 302, body: '{}' })],
    ['no JSON', () => ({ body: '<html>' })],
    ['something else', () => ({ body: '{"keys":7}' })],
    ['too much', () => ({ body: JSON.stringify({ keys: [], pad: 'x'.repeat(1_100_000) }) })],
  ])('are reported as such for %s', async (_, answer) => {
    answers.set('/jwks', answer)
    const verifying = verifierOf().verify(await tokenOf().sign(keys.privateKey))
    await expect(verifying).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  it('are asked for again after a pause, not for every token that comes', async () => {
    const verifier = verifierOf()
    const token = await tokenOf().sign(keys.privateKey)
    answers.set('/jwks', () => ({ status: 503, body: '{}' }))
    for (let i = 0; i < 5; i++) await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(asked).toHaveLength(1)
    answers.set('/jwks', () => ({ body: JSON.stringify({ keys: [jwk] }) }))
    await clock.advance(5_000)
    expect(await verifier.verify(token)).toBeDefined()
  })
})

describe('a config that cannot be meant', () => {
  it.each<[string, Partial<JwtConfig>]>([
    ['keys over a way that anybody can change', { jwksUri: 'http://login.example.org/jwks' }],
    ['keys twice', { jwksUri: 'https://a.example', jwks: { keys: [{ kty: 'EC' }] } }],
    ['no audience', { audience: [] }],
    ['an unknown scope', { map: { ops: 'fly' as 'call' } }],
  ])('is refused: %s', (_, config) => {
    expect(() => verifierOf(config)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  it('is named by its number and field', () => {
    const own = { issuer: 'https://a.example', audience: AUDIENCE }
    const refusal = (...issuers: JwtConfig[]) => {
      try {
        verifierOf({}, { issuers })
      } catch (error) {
        return String(error)
      }
      return undefined
    }
    expect(refusal(own, { issuer: 'http://b.example', audience: AUDIENCE })).toBe(
      'ToolError: issuer 2.issuer: must begin with https://.',
    )
    expect(refusal({ ...own, jwks: { keys: [{ kty: 'EC' }] }, jwksUri: 'https://a.example' })).toBe(
      'ToolError: issuer 1: has jwksUri and jwks; give one of them.',
    )
    expect(refusal(own, { ...own, issuer: 'https://b.example' }, own)).toBe(
      'ToolError: The issuer https://a.example is configured twice.',
    )
    expect(refusal(own, { ...own, issuer: 'https://b.example' })).toBeUndefined()
  })
})
