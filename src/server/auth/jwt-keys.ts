import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { type Clock, lazyModule, messageOf, ToolError, type WebFetch } from '../../core/index.ts'
import { once } from '../../lib/index.ts'
import { SCOPES, tokenLimits } from '../../protocol/index.ts'

const scope = z.enum(SCOPES)

/** Keys are asked for where nobody on the way can change them. */
const keyAddress = z.url({ protocol: /^https?$/ }).refine(isPrivateWay, 'must begin with https://')

/** An authorization server whose JSON Web Tokens open the door. */
export const jwtConfig = z
  .strictObject({
    /** As its tokens say it, to the letter. */
    issuer: keyAddress,
    /** What its tokens must be meant for. */
    audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    /** Where its keys are; what its `/.well-known/openid-configuration` says unless said. */
    jwksUri: keyAddress.optional(),
    /** The keys themselves, for a server that cannot be asked. */
    jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) }).optional(),
    /** The claim with the scopes: words in a text, or a list; `realm_access.roles` looks into an object. */
    scopesClaim: z.string().min(1).default('scope'),
    /** What the server's words mean here; without it, `call`, `approve`, `read` and `admin` mean themselves. */
    map: z.record(z.string(), z.union([scope, z.array(scope)])).optional(),
    /** What everybody who comes this way is held to. */
    limits: tokenLimits.optional(),
  })
  .refine(({ jwksUri, jwks }) => !(jwksUri && jwks), 'has jwksUri and jwks; give one of them')

export type JwtConfig = z.input<typeof jwtConfig>
export type CheckedJwtConfig = z.output<typeof jwtConfig>

function isPrivateWay(address: string): boolean {
  // Also asked of what is no URL, which is said already.
  if (!URL.canParse(address)) return true
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

const loadJose = lazyModule(() => import('jose'))

/** Finds the key that a token says it was signed with. */
export type KeySet = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>

const TIMEOUT_MS = 5_000
const MAX_BYTES = 1_000_000
/** A server that does not answer is left alone for so long: whoever sends tokens must not make us knock at will. */
const PAUSE_MS = 5_000

const discovery = z.object({ issuer: z.string(), jwks_uri: jwtConfig.shape.issuer })

/** The keys of an authorization server: those given, or fetched when first needed, kept for 10 minutes, and again for a key that is new. */
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

/** Where the keys are, as the server itself says; one that calls itself otherwise is not believed. */
async function discover(issuer: string, fetch: WebFetch): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
  const said = discovery.safeParse(await response.json())
  if (said.success && said.data.issuer === issuer) return said.data.jwks_uri
  throw unavailable(issuer, `${address} does not say where they are`)
}

/** A fetch that reads at most so much, and pauses after a failure; every failure is UPSTREAM_ERROR. */
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
