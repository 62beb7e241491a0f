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
import { ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { SessionOwner } from '../client-session.ts'
import { authenticatedClient } from '../conversation.ts'
import type { McpAuth } from '../options.ts'

const MIN_TOKEN_LENGTH = 16

/** Who a request comes from. */
export interface McpCaller {
  /** The owner of sessions and sealed states. */
  readonly principal: string
  /** Its authenticated name for the record; absent if only the client itself gives one. */
  readonly knownName?: string
  readonly authInfo?: AuthInfo
}

/** Authenticates requests to the MCP server. */
export interface McpAuthenticator {
  /** Returns the caller, or the response that refuses it. */
  authenticate(request: Request): Promise<McpCaller | Response>
  /** The response to a request for the OAuth metadata; `undefined` for any other request. */
  metadataResponse(request: Request): Response | undefined
}

/** Creates the authenticator for `auth`; without it everybody who reaches the server may call. */
export function createMcpAuthenticator(auth: McpAuth | undefined): McpAuthenticator {
  if (!auth) return { authenticate: async () => ({ principal: 'local' }), metadataResponse: () => undefined }
  if ('token' in auth) return tokenAuthenticator(auth.token)
  return oauthAuthenticator(auth)
}

/** The caller that a server in front of this one has authenticated. */
export function callerOf(authInfo: AuthInfo): McpCaller {
  const { clientId, extra } = authInfo
  const parts = typeof extra?.sub === 'string' ? [clientId, extra.sub] : [clientId]
  return { principal: authenticatedClient(parts), knownName: escapeLine(parts.join('/')).slice(0, 64), authInfo }
}

/** The owner of the sessions of a caller; an unauthenticated caller is not asked anything. */
export function ownerOf({ principal, knownName, authInfo }: McpCaller): SessionOwner {
  return { principal, knownName, asksClient: authInfo !== undefined }
}

function tokenAuthenticator(token: string): McpAuthenticator {
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

function oauthAuthenticator(auth: Exclude<McpAuth, { token: string }>): McpAuthenticator {
  const { verifier, oauthMetadata, requiredScopes, scopesSupported } = auth
  const resourceServerUrl = new URL(auth.resource)
  const metadata: AuthMetadataOptions = {
    oauthMetadata,
    resourceServerUrl,
    ...(scopesSupported && { scopesSupported: [...scopesSupported] }),
  }
  // Reports invalid metadata at the start.
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

/** Digests have the same length, so a comparison reveals nothing about the length of a text. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
