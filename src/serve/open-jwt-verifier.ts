import type { Clock } from '../clock.ts'
import type { OidcOptions } from '../config/to-service.ts'
import type { Hub } from '../hub.ts'
import type { WebFetch } from '../source.ts'
import { createJwtVerifier, type JwtVerifier } from './auth/create-jwt-verifier.ts'

/** Knows people by the tokens of the owner's identity providers, whose keys it fetches by the hub's guarded way out. */
export function openJwtVerifier(
  hub: Hub,
  issuers: readonly OidcOptions[],
  { clock, publicUrl }: { readonly clock: Clock; readonly publicUrl?: string },
): JwtVerifier | undefined {
  if (issuers.length === 0) return undefined
  const origins = issuers.flatMap(({ issuer, jwks = issuer }) => [new URL(issuer).origin, new URL(jwks).origin])
  let fetch: WebFetch | undefined
  // A source that brings no tools; providers may keep their keys at another public host.
  hub.connect({
    name: 'identity providers',
    start: (host) => {
      fetch = host.webFetch({ origins: [...new Set(origins)], publicHosts: true })
    },
  })
  return createJwtVerifier({
    issuers: issuers.map(({ jwks, scopes, audience, ...issuer }) => ({
      ...issuer,
      // A client of MCP asks for a token for the resource itself, by its URL (RFC 8707).
      audience: publicUrl === undefined ? audience : [audience, `${publicUrl.replace(/\/+$/, '')}/mcp`],
      ...(jwks !== undefined && { jwksUri: jwks }),
      ...(scopes && { map: Object.fromEntries(Object.entries(scopes).map(([word, meant]) => [word, [...meant]])) }),
    })),
    fetch: async (url, init) => {
      await hub.ready()
      return fetch!(url, init)
    },
    hub,
    clock,
  })
}
