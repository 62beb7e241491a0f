import { ToolError } from '../../core/index.ts'
import { type Hop, nextHop } from './exchange.ts'
import { judgeUrl } from './judge-url.ts'
import { checkHttpRequest } from './request-parts.ts'
import type { Transfer } from './transfer.ts'

const REDIRECTS = ['follow', 'manual', 'error'] as const

/** What a `fetch` asks for, checked. */
export interface WebRequest {
  readonly first: Hop
  readonly redirect: (typeof REDIRECTS)[number]
  readonly signal: AbortSignal | undefined
}

const FORM = 'application/x-www-form-urlencoded;charset=UTF-8'
const TEXT = 'text/plain;charset=UTF-8'

/** Reads what a client of a service wants to send. */
export function readWebRequest(url: string | URL, init: RequestInit, userAgent: string): WebRequest {
  const { body, type } = readBody(init.body)
  const headers = readHeaders(init.headers)
  if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type)
  // An answer is given as it comes: what is not compressed cannot swell.
  const defaults = new Map([
    ['user-agent', userAgent],
    ['accept', '*/*'],
  ])
  const parts = checkHttpRequest(
    {
      ...(init.method !== undefined && { method: init.method as Hop['method'] }),
      headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
      ...(body !== undefined && { body: '' }),
    },
    defaults,
  )
  const redirect = REDIRECTS.find((known) => known === (init.redirect ?? 'follow'))
  if (!redirect) throw invalid(`redirect is one of ${REDIRECTS.join(', ')}.`)
  return {
    // undici sends bytes like text, and nothing on the way looks into a body.
    first: { url: judgeUrl(String(url)), ...parts, body: body as string | undefined },
    redirect,
    signal: init.signal ?? undefined,
  }
}

/** Refuses to carry a body to another origin: a redirect may ask for it, but it may hold what only the first should see. */
export function refuseCarriedBody(first: Hop, hop: Hop): void {
  if (hop.body === undefined || hop.url.origin === first.url.origin) return
  throw new ToolError(
    'HTTP_DISALLOWED_HOST',
    `${first.url.host} redirects what is sent to it to another place (${hop.url.origin}).`,
    { hint: 'If that is the right place, use its URL.' },
  )
}

/** Refuses an answer that leads elsewhere. */
export function refuseRedirect(hop: Hop, transfer: Transfer): void {
  const { status, headers } = transfer
  try {
    if (!nextHop(hop, status, headers.location)) return
  } catch (error) {
    transfer.discard()
    throw error
  }
  transfer.discard()
  throw new ToolError('UPSTREAM_ERROR', `${hop.url.host} redirects (${status}), which was not wanted.`, {
    retryable: false,
  })
}

function readBody(body: RequestInit['body']): { body?: string | Uint8Array; type?: string } {
  if (body === undefined || body === null) return {}
  if (typeof body === 'string') return { body, type: TEXT }
  if (body instanceof URLSearchParams) return { body: body.toString(), type: FORM }
  if (body instanceof Uint8Array) return { body }
  throw invalid('A body is a string, a Uint8Array or URLSearchParams.')
}

function readHeaders(given: RequestInit['headers']): Headers {
  try {
    return new Headers(given)
  } catch (cause) {
    throw invalid('A header has a name or a value that no header can carry.', cause)
  }
}

function invalid(message: string, cause?: unknown): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { cause })
}
