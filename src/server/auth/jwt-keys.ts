import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { type Clock, lazyModule, messageOf, ToolError, type WebFetch } from '../../core/index.ts'
import { once } from '../../lib/index.ts'
import { SCOPES, tokenLimits } from '../../protocol/index.ts'

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
export type CheckedJwtConfig = z.output<typeof jwtConfig>

function isPrivateWay(address: string): boolean {
  // An invalid URL is reported by the schema.
  if (!URL.canParse(address)) return true
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

const loadJose = lazyModule(() => import('jose'))

/** Returns the key that a token was signed with. */
export type KeySet = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>

const TIMEOUT_MS = 5_000
const MAX_BYTES = 1_000_000
/** Pause after a failed request, so that clients cannot trigger requests at will. */
const PAUSE_MS = 5_000

const discovery = z.object({ issuer: z.string(), jwks_uri: jwtConfig.shape.issuer })

/**
 * Opens the keys of an authorization server: the configured ones, or fetched when first needed, cached for 10 minutes,
 * and fetched again for a new key.
 */
export async function openKeySet(config: CheckedJwtConfig, fetch: WebFetch, clock: Clock): Promise<KeySet> {
  const { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } = await loadJose()
  if (config.jwks) return createLocalJWKSet(config.jwks as JSONWebKeySet)
  const careful = carefulFetch(fetch, config.issuer, clock)
  const open = once(async () => {
    const address = config.jwksUri ?? (await discover(config.issuer, careful))
    return createRemoteJWKSet(new URL(address), { timeoutDuration: TIMEOUT_MS, [customFetch]: careful })
  })
  return async (header, token) => {
    const remote = await open()
    try {
      return await remote(header, token)
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
