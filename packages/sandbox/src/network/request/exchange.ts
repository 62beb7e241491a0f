import { resourceError, ToolError } from '@tool-hub/core'
import { judgeRedirect } from '../judge-destination.ts'
import type { RequestDeadline } from './deadline.ts'
import { hasSecret } from './fill-secrets.ts'
import type { Hop } from './http-request.ts'
import { ConnectError } from './pinned-connections.ts'
import { drain } from './read-body.ts'
import type { Transfer } from './transfer.ts'

const MAX_REDIRECTS = 5

/** The last response of an exchange; its body has not been read. */
export interface ExchangeResult {
  readonly hop: Hop
  readonly transfer: Transfer
  /** Every URL that was requested, including the last. */
  readonly urls: readonly URL[]
}

/** Sends a request and follows its redirects; `send` checks each hop like the first. Throws after too many redirects. */
export async function exchange(
  first: Hop,
  send: (hop: Hop) => Promise<Transfer>,
  deadline: RequestDeadline,
): Promise<ExchangeResult> {
  const urls: URL[] = []
  let hop = first
  try {
    while (urls.length <= MAX_REDIRECTS) {
      urls.push(hop.url)
      const transfer = await send(hop)
      const next = followed(hop, transfer)
      if (!next) return { hop, transfer, urls }
      await drain(transfer)
      hop = next
    }
  } catch (error) {
    deadline.check()
    throw toNetworkError(error, hop.url)
  }
  throw new ToolError('UPSTREAM_ERROR', `${first.url.host} redirected more than ${MAX_REDIRECTS} times.`, {
    retryable: false,
  })
}

function followed(hop: Hop, transfer: Transfer): Hop | undefined {
  try {
    return nextHop(hop, transfer.status, transfer.headers.location)
  } catch (error) {
    transfer.discard()
    throw error
  }
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])
// A redirect to another origin keeps only headers that cannot be credentials.
const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-language',
  'content-type',
  'user-agent',
])
const ABOUT_BODY = new Set(['content-type', 'content-language', 'content-encoding', 'content-location'])

/** The request that a redirect leads to; undefined if the response is not a redirect. */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (location === undefined || !REDIRECT_STATUSES.has(status)) return undefined
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

function changesToGet(method: Hop['method'], status: number): boolean {
  return status === 303 ? method !== 'HEAD' : method === 'POST'
}

function judgeLocation(location: string, from: URL): URL {
  try {
    return judgeRedirect(location, from)
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'INPUT_SCHEMA_INVALID') throw error
    // The server wrote this URL: the caller did not make a mistake.
    throw new ToolError('UPSTREAM_ERROR', `${from.host} redirects to a URL that cannot be used: ${error.message}`, {
      retryable: false,
      cause: error,
    })
  }
}

/** Turns a network failure into an error for the caller; returns any other error unchanged. */
export function toNetworkError(error: unknown, { host }: URL): unknown {
  if (ToolError.is(error) || !(error instanceof Error)) return error
  const exhausted = resourceError(error, `No connection to ${host}`)
  if (exhausted) return exhausted
  if (error instanceof ConnectError) {
    return new ToolError('UPSTREAM_ERROR', `No connection to ${host}: ${error.message}`, { cause: error })
  }
  // undici, zlib and the system name their failures by a code; an error without one is a defect.
  if (!('code' in error)) return error
  if (error.code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ToolError('HTTP_TOO_LARGE', `The headers of ${host} are too large.`, { cause: error })
  }
  return new ToolError('UPSTREAM_ERROR', `The exchange with ${host} failed: ${error.message}`, { cause: error })
}
