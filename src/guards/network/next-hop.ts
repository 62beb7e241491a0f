import { ToolError } from '../../errors.ts'
import { hasSecret } from './fill-secrets.ts'
import { judgeRedirect } from './judge-url.ts'
import type { RequestParts } from './request-parts.ts'

/** One request on the way to an answer. */
export interface Hop extends RequestParts {
  readonly url: URL
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
// Across origins only headers stay that cannot be anybody's credentials.
const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-language',
  'content-type',
  'user-agent',
])
const ABOUT_BODY = new Set(['content-type', 'content-language', 'content-encoding', 'content-location'])

/** The request that a redirect asks for; undefined when the answer is no redirect. */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (location === undefined || !REDIRECTS.has(status)) return undefined
  const url = judgeLocation(location, hop.url)
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new ToolError('HTTP_DISALLOWED_HOST', `${hop.url.host} redirects from https to http (${url.host}).`, {
      hint: 'Use a host that stays on https.',
    })
  }
  const isKept = status >= 307 || !changesToGet(hop.method, status)
  const isSameOrigin = url.origin === hop.url.origin
  const headers = [...hop.headers].filter(
    ([name, value]) => (isSameOrigin || (HARMLESS.has(name) && !hasSecret(value))) && (isKept || !ABOUT_BODY.has(name)),
  )
  return {
    url,
    method: isKept ? hop.method : 'GET',
    headers: new Map(headers),
    body: isKept ? hop.body : undefined,
  }
}

function changesToGet(method: RequestParts['method'], status: number): boolean {
  return status === 303 ? method !== 'HEAD' : method === 'POST'
}

function judgeLocation(location: string, from: URL): URL {
  try {
    return judgeRedirect(location, from)
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'INPUT_SCHEMA_INVALID') throw error
    // Not the caller's spelling, so not the caller's mistake.
    throw new ToolError('UPSTREAM_ERROR', `${from.host} redirects to a URL that cannot be used: ${error.message}`, {
      retryable: false,
      cause: error,
    })
  }
}
