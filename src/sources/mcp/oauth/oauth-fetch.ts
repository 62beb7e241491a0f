import { ToolError } from '../../../errors.ts'
import type { WebFetch } from '../../../source.ts'
import { Renewals } from './renewals.ts'

/** What authorization servers say is short. */
const MOST_BYTES = 200_000
const BODILESS = new Set([204, 205, 304])

/** A fetch for a server that one signs in to: answers about signing in are bounded, and tokens are renewed once for all. */
export function oauthFetch(fetch: WebFetch): WebFetch {
  const renewals = new Renewals()
  const ask: WebFetch = async (url, init) => {
    const response = await fetch(url, init)
    if (response.status === 401) renewals.refuse(bearerOf(init))
    return response
  }
  return async (url, init) => {
    if (isOfServer(init)) return ask(url, init)
    const refreshToken = refreshTokenOf(init)
    if (refreshToken === undefined) return readWhole(await forSdk(ask(url, init)))
    return renewals.renew(refreshToken, async () => readWhole(await ask(url, init)))
  }
}

/** Requests of the protocol take a stream of events for an answer, or end a session; those to sign in never do. */
function isOfServer({ method, headers }: RequestInit = {}): boolean {
  return method === 'DELETE' || (new Headers(headers).get('accept') ?? '').includes('text/event-stream')
}

function bearerOf({ headers }: RequestInit = {}): string {
  return (new Headers(headers).get('authorization') ?? '').replace(/^Bearer /, '')
}

function refreshTokenOf({ method, body }: RequestInit = {}): string | undefined {
  if (method !== 'POST' || !(body instanceof URLSearchParams)) return undefined
  return body.get('grant_type') === 'refresh_token' ? (body.get('refresh_token') ?? undefined) : undefined
}

/** For the SDK only a TypeError is a broken connection; anything else means that a server says nothing about itself. */
async function forSdk(answer: Promise<Response>): Promise<Response> {
  try {
    return await answer
  } catch (cause) {
    if (ToolError.is(cause)) throw new TypeError(cause.message, { cause })
    throw cause
  }
}

async function readWhole(response: Response): Promise<Response> {
  const { status, headers } = response
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) {
      throw new ToolError('HTTP_TOO_LARGE', `An answer about signing in has more than ${MOST_BYTES} bytes.`)
    }
    chunks.push(chunk)
  }
  return new Response(BODILESS.has(status) ? null : Buffer.concat(chunks), { status, headers })
}
