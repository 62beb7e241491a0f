import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { type Clock, lazyModule, systemClock, ToolError, type WebFetch } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { isPlainObject } from '../../lib/index.ts'
import { SCOPES, type Scope } from '../../protocol/index.ts'
import { type AuthenticatedCaller, toCaller } from './caller.ts'
import { type CheckedJwtConfig, type JwtConfig, jwtConfig, type KeySet, openKeySet } from './jwt-keys.ts'

const MAX_WORDS = 1_000

const loadJose = lazyModule(() => import('jose'))

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
  callerOf(someone: Person): AuthenticatedCaller | undefined
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
  const people = new LRUCache<string, AuthenticatedCaller>({ max: MAX_PEOPLE })
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
