import { type Clock, lazyModule, messageOf, systemClock, ToolError, type WebFetch } from '@tool-hub/core'
import { isPlainObject, once } from '@tool-hub/core/lib'
import { SCOPES, type Scope, tokenLimits } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { type Caller, toCaller } from './caller.ts'

const MAX_WORDS = 1_000

/** A person as identified by an authorization server; stored with a sign-in. */
export const person = z.object({
  issuer: z.string(),
  subject: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  /** When the token expires. */
  expiresAt: z.number(),
})
export type Person = z.output<typeof person>

/** Verifies the JSON Web Tokens of authorization servers. */
export interface JwtVerifier {
  /**
   * Returns the person of a token; `undefined` if it is not valid. Throws UPSTREAM_ERROR if the keys cannot be fetched.
   */
  verify(token: string): Promise<Person | undefined>
  /** Returns the caller of a person; `undefined` if its issuer is no longer configured. */
  callerOf(someone: Person): Caller | undefined
}

export interface JwtVerifierOptions {
  readonly issuers: readonly JwtConfig[]
  /** Fetches keys; must be guarded, as by `createWebFetch`. */
  readonly fetch: WebFetch
  readonly hub: Pick<Hub, 'as'>
  readonly clock?: Clock
  /** Absolute folder that relative patterns of rules start from. Default: the working folder. */
  readonly base?: string
}

/** Asymmetric algorithms only; `none` and shared secrets are never accepted. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
const CLOCK_TOLERANCE_S = 30
const MAX_CHARS = 8_192
const MAX_PEOPLE = 1_000
// The same as for names of principals in the hub.
const NAME = /^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u

/** Creates the verifier; throws CONFIG_INVALID for an invalid config. */
export function createJwtVerifier(options: JwtVerifierOptions): JwtVerifier {
  const { fetch, hub, clock = systemClock, base = process.cwd() } = options
  const issuers = new Map(checkAll(options.issuers).map((config) => [config.issuer, config]))
  const keys = new Map<string, Promise<KeySet>>()
  const people = new LRUCache<string, Caller>({ max: MAX_PEOPLE })
  const keysOf = (config: CheckedJwtConfig) => {
    const known = keys.get(config.issuer) ?? openKeySet(config, fetch, clock)
    keys.set(config.issuer, known)
    return known
  }
  const nameOf = ({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>) =>
    // An issuer has no space, so no two people have the same name.
    issuers.size > 1 ? `user:${issuer} ${subject}` : `user:${subject}`

  return {
    async verify(token) {
      if (token.length > MAX_CHARS) return undefined
      const { decodeJwt, errors, jwtVerify } = await loadJose()
      try {
        const config = issuers.get(String(decodeJwt(token).iss))
        if (!config) return undefined
        const { payload } = await jwtVerify(token, await keysOf(config), {
          issuer: config.issuer,
          audience: config.audience,
          algorithms: ALGORITHMS,
          requiredClaims: ['exp'],
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: new Date(clock.now()),
        })
        const { sub: subject, exp } = payload
        if (typeof subject !== 'string' || subject === '') return undefined
        const found = {
          issuer: config.issuer,
          subject,
          scopes: [...readScopes(payload, config)],
          expiresAt: exp! * 1_000,
        }
        return NAME.test(nameOf(found)) ? found : undefined
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },
    callerOf(someone) {
      const config = issuers.get(someone.issuer)
      if (!config) return undefined
      const name = nameOf(someone)
      const key = JSON.stringify([name, someone.scopes])
      const caller = people.get(key) ?? toCaller(hub, { ...factsOf(config, base), name, scopes: someone.scopes })
      people.set(key, caller)
      return caller
    },
  }
}

function factsOf({ issuer, limits = {} }: CheckedJwtConfig, base: string) {
  const howToAllowDanger =
    'The owner of the hub can allow it for everybody of this issuer: limits: { allowDanger: true } in service.oidc.'
  return { limits, label: `issuer ${issuer}`, base, howToAllowDanger }
}

function checkAll(configs: readonly JwtConfig[]): readonly CheckedJwtConfig[] {
  const checked = configs.map((config, index) => {
    const read = jwtConfig.safeParse(config)
    if (read.success) return read.data
    const [issue] = read.error.issues
    const where = [`issuer ${index + 1}`, ...(issue?.path ?? [])].join('.')
    throw new ToolError('CONFIG_INVALID', `${where}: ${issue?.message}.`)
  })
  const twice = checked.find(({ issuer }, index) => checked.findIndex((other) => other.issuer === issuer) < index)
  if (twice) throw new ToolError('CONFIG_INVALID', `The issuer ${twice.issuer} is configured twice.`)
  return checked
}

/** Returns the scopes that the claims of a token grant; unknown ones are ignored. */
export function readScopes(
  claims: Readonly<Record<string, unknown>>,
  { scopesClaim, map }: Pick<CheckedJwtConfig, 'scopesClaim' | 'map'>,
): readonly Scope[] {
  const meanings = new Map<string, readonly Scope[]>(
    map
      ? Object.entries(map).map(([word, scopes]) => [word, [scopes].flat()])
      : SCOPES.map((scope) => [scope, [scope]]),
  )
  const found = new Set(wordsOf(findClaim(claims, scopesClaim)).flatMap((word) => meanings.get(word) ?? []))
  return SCOPES.filter((scope) => found.has(scope))
}

/** Finds a claim by its name, or else by the name as a path into objects. */
function findClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name
    .split('.')
    .reduce<unknown>((at, key) => (isPlainObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), claims)
}

function wordsOf(claim: unknown): readonly string[] {
  const words = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : []
  return words.slice(0, MAX_WORDS).filter((word) => typeof word === 'string')
}

const scope = z.enum(SCOPES)

/** Keys are fetched over https, or from this machine. */
const keyAddress = z.url({ protocol: /^https?$/ }).refine(isPrivateWay, 'must begin with https://')

/** An authorization server whose JSON Web Tokens are accepted. */
export const jwtConfig = z
  .strictObject({
    /** Exactly as in the `iss` claim of its tokens. */
    issuer: keyAddress,
    /** The required `aud` claim. */
    audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    /** URL of its keys. Default: from its `/.well-known/openid-configuration`. */
    jwksUri: keyAddress.optional(),
    /** The keys themselves, for a server that cannot be reached. */
    jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) }).optional(),
    /** The claim with the scopes, as a text or a list; `realm_access.roles` looks into an object. */
    scopesClaim: z.string().min(1).default('scope'),
    /** Maps the server's scopes to ours. Default: `call`, `approve`, `read` and `admin` mean themselves. */
    map: z.record(z.string(), z.union([scope, z.array(scope)])).optional(),
    /** Limits for everybody who signs in with this issuer. */
    limits: tokenLimits.optional(),
  })
  .refine(({ jwksUri, jwks }) => !(jwksUri && jwks), 'has jwksUri and jwks; give one of them')

export type JwtConfig = z.input<typeof jwtConfig>
type CheckedJwtConfig = z.output<typeof jwtConfig>

function isPrivateWay(address: string): boolean {
  // An invalid URL is reported by the schema.
  if (!URL.canParse(address)) return true
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

const loadJose = lazyModule(() => import('jose'))

/** Returns the key that a token was signed with. */
type KeySet = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>

const TIMEOUT_MS = 5_000
const MAX_BYTES = 1_000_000
/** Between two requests because of unknown keys: anybody can send a token that names one. */
const RELOAD_MS = 5_000
/** Pause after a failed request, so that clients cannot trigger requests at will. */
const PAUSE_MS = 5_000

const discovery = z.object({ issuer: z.string(), jwks_uri: jwtConfig.shape.issuer })

/**
 * Opens the keys of an authorization server: the configured ones, or fetched when first needed, cached for 10 minutes,
 * and fetched again as soon as a token names an unknown key, at most every 5 s.
 */
export async function openKeySet(config: CheckedJwtConfig, fetch: WebFetch, clock: Clock): Promise<KeySet> {
  const { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } = await loadJose()
  if (config.jwks) return createLocalJWKSet(config.jwks as JSONWebKeySet)
  const careful = carefulFetch(fetch, config.issuer, clock)
  const open = once(async () => {
    const address = config.jwksUri ?? (await discover(config.issuer, careful))
    const cooldownDuration = Number.POSITIVE_INFINITY
    return createRemoteJWKSet(new URL(address), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration,
      [customFetch]: careful,
    })
  })
  let mayReloadAt = Number.NEGATIVE_INFINITY
  const find: KeySet = async (header, token) => {
    const remote = await open()
    const wasLoaded = remote.fresh
    try {
      return await remote(header, token)
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey
      const mayReload = remote.reloading || clock.now() >= mayReloadAt
      if (!isUnknown || !wasLoaded || !mayReload) throw error
      if (!remote.reloading) mayReloadAt = clock.now() + RELOAD_MS
      await remote.reload()
      return remote(header, token)
    }
  }
  return async (header, token) => {
    try {
      return await find(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSInvalid) throw unavailable(config.issuer, 'it gives something else', error)
      throw error
    }
  }
}

/** Reads the URL of the keys from the server's metadata; throws if the metadata names another issuer. */
async function discover(issuer: string, fetch: WebFetch): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
  const said = discovery.safeParse(await response.json())
  if (said.success && said.data.issuer === issuer) return said.data.jwks_uri
  throw unavailable(issuer, `${address} does not say where they are`)
}

/** A fetch with a size limit that pauses after a failure; every failure is UPSTREAM_ERROR. */
function carefulFetch(fetch: WebFetch, issuer: string, clock: Clock): WebFetch {
  let pausedUntil = Number.NEGATIVE_INFINITY
  return async (url, init) => {
    if (clock.now() < pausedUntil) throw unavailable(issuer, 'it did not answer a moment ago')
    try {
      const response = await fetch(url, init)
      if (response.status !== 200) throw new Error(`it answers ${response.status}`)
      return Response.json(JSON.parse(await readBounded(response)))
    } catch (cause) {
      pausedUntil = clock.now() + PAUSE_MS
      throw unavailable(issuer, messageOf(cause), cause)
    }
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) throw new Error(`its answer has more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function unavailable(issuer: string, why: string, cause?: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The keys of ${issuer} cannot be had: ${why}.`, {
    hint: 'Try again in a few seconds; the owner sees to it that the authorization server can be reached.',
    cause,
  })
}
