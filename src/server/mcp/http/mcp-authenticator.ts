import { createHash, timingSafeEqual } from 'node:crypto'
import {
  type AuthInfo,
  type AuthMetadataOptions,
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import { ToolError } from '../../../core/index.ts'
import { escapeLine } from '../../../lib/index.ts'
import type { SessionOwner } from '../client-session.ts'
import type { McpAuth } from '../options.ts'

const MIN_TOKEN_LENGTH = 16

/** Who a request comes from. */
export interface McpCaller {
  /** Whom sessions and sealed states belong to. */
  readonly principal: string
  /** Its name on record, where it is not only what the client says of itself. */
  readonly knownName?: string
  readonly authInfo?: AuthInfo
}

/** Finds out who calls. */
export interface McpAuthenticator {
  /** The caller, or the answer that turns it away. */
  authenticate(request: Request): Promise<McpCaller | Response>
  /** The answer to one who asks where to get a token; undefined when the request is no such question. */
  metadataResponse(request: Request): Response | undefined
}

/** A authenticator for what the owner said; without `auth` everybody who reaches the server may call. */
export function createMcpAuthenticator(auth: McpAuth | undefined): McpAuthenticator {
  if (!auth) return { authenticate: async () => ({ principal: 'local' }), metadataResponse: () => undefined }
  if ('token' in auth) return tokenDoorkeeper(auth.token)
  return oauthDoorkeeper(auth)
}

/** The caller whom somebody in front of us has found out. */
export function callerOf(authInfo: AuthInfo): McpCaller {
  const { clientId, extra } = authInfo
  const parts = typeof extra?.sub === 'string' ? [clientId, extra.sub] : [clientId]
  // As JSON no two are alike, whatever is in their names.
  return { principal: `auth:${JSON.stringify(parts)}`, knownName: escapeLine(parts.join('/')).slice(0, 64), authInfo }
}

/** Whose the sessions of a caller are; one who could be anybody is not asked. */
export function ownerOf({ principal, knownName, authInfo }: McpCaller): SessionOwner {
  return { principal, knownName, asksClient: authInfo !== undefined }
}

function tokenDoorkeeper(token: string): McpAuthenticator {
  if (typeof token !== 'string' || token.length < MIN_TOKEN_LENGTH) {
    throw new ToolError('CONFIG_INVALID', `A token for MCP over HTTP has at least ${MIN_TOKEN_LENGTH} characters.`, {
      fix: { hint: 'Make one of random characters: openssl rand -hex 32' },
    })
  }
  const wanted = digest(token)
  const verifyAccessToken = async (given: string): Promise<AuthInfo> => {
    if (!timingSafeEqual(digest(given), wanted)) throw new OAuthError(OAuthErrorCode.InvalidToken, 'Invalid token')
    return { token: '', clientId: 'token', scopes: [], expiresAt: Number.POSITIVE_INFINITY }
  }
  const gate = requireBearerAuth({ verifier: { verifyAccessToken } })
  return {
    authenticate: async (request) => {
      const info = await gate(request)
      return info instanceof Response ? info : { principal: 'token', authInfo: info }
    },
    metadataResponse: () => undefined,
  }
}

function oauthDoorkeeper(auth: Exclude<McpAuth, { token: string }>): McpAuthenticator {
  const { verifier, oauthMetadata, requiredScopes, scopesSupported } = auth
  const resourceServerUrl = new URL(auth.resource)
  const metadata: AuthMetadataOptions = {
    oauthMetadata,
    resourceServerUrl,
    ...(scopesSupported && { scopesSupported: [...scopesSupported] }),
  }
  // Says at the start what is wrong with it.
  buildOAuthProtectedResourceMetadata(metadata)
  const gate = requireBearerAuth({
    verifier,
    expectedResource: resourceServerUrl,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
    ...(requiredScopes && { requiredScopes: [...requiredScopes] }),
  })
  return {
    authenticate: async (request) => {
      const info = await gate(request)
      return info instanceof Response ? info : callerOf(info)
    },
    metadataResponse: (request) => oauthMetadataResponse(request, metadata),
  }
}

/** Of equal length for every text, so that comparing two says nothing of how long they are. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
