import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, ToolError, throwIfAborted } from '@tool-hub/core'
import { abortReason } from './request/deadline.ts'

/** What to wait for. */
export interface WebCallbackOptions {
  /** The `state` that the callback must carry; only the authorization server was sent it. */
  readonly state: string
  /** Default: any free port. */
  readonly port?: number
  readonly timeoutMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A listener on this machine to which a browser is redirected, once. */
export interface WebCallback {
  readonly url: string
  /** The parameters of the callback; rejects if it does not arrive in time. */
  readonly answer: Promise<URLSearchParams>
  close(): void
}

const PATH = '/callback'
const MAX_CONNECTIONS = 16
const MAX_HEADER_BYTES = 16_384
const REQUEST_TIMEOUT_MS = 10_000
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}

/** Listens on loopback for the one callback that carries the state; everything else is refused and changes nothing. */
export async function openWebCallback(options: WebCallbackOptions): Promise<WebCallback> {
  const { state, port = 0, timeoutMs, clock, signal } = options
  throwIfAborted(signal)
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS })
  server.maxConnections = MAX_CONNECTIONS
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (cause) {
    throw new ToolError('CONFLICT', `Port ${port} of this machine cannot be listened on.`, {
      hint: 'End what uses it, or have the owner choose another oauth.callbackPort.',
      cause,
    })
  }
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    stopClock()
    signal.removeEventListener('abort', abort)
    server.close()
    server.closeIdleConnections()
  }
  const { promise: answer, resolve, reject } = withResolvers<URLSearchParams>()
  const fail = (error: unknown) => {
    reject(error)
    close()
    server.closeAllConnections()
  }
  const abort = () => fail(abortReason(signal))
  const stopClock = clock.after(timeoutMs, () => fail(nobodyCame(timeoutMs)))
  signal.addEventListener('abort', abort)
  // A caller that does not wait for it need not handle its failure.
  answer.catch(() => {})

  let isTaken = false
  server.on('request', (request, response) => {
    const found = isTaken ? undefined : readAnswer(request, host, state)
    if (!found) return refuse(request, response)
    isTaken = true
    response.writeHead(200, HEADERS).end('You can close this window.\n')
    resolve(found)
    close()
  })
  return { url: `http://${host}${PATH}`, answer, close }
}

/** The parameters of a callback; undefined if it is none, or does not carry the state. */
function readAnswer({ method, headers, url = '' }: IncomingMessage, host: string, state: string) {
  // Another Host would be a page whose name resolves to this machine (DNS rebinding).
  if (method !== 'GET' || headers.host !== host || !URL.canParse(url, `http://${host}`)) return undefined
  const { pathname, searchParams, origin } = new URL(url, `http://${host}`)
  if (pathname !== PATH || origin !== `http://${host}` || !isSame(searchParams.getAll('state'), state)) return undefined
  const isTwofold = ['code', 'error', 'iss'].some((name) => searchParams.getAll(name).length > 1)
  if (isTwofold || searchParams.has('code') === searchParams.has('error')) return undefined
  return searchParams
}

function isSame(given: readonly string[], state: string): boolean {
  const [one, other] = [Buffer.from(given.length === 1 ? given[0]! : ''), Buffer.from(state)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  response.writeHead(400, HEADERS).end('This is not the answer that is waited for.\n')
}

function nobodyCame(timeoutMs: number): ToolError {
  return new ToolError('APPROVAL_TIMEOUT', `Nobody came back from the browser in ${timeoutMs / 1000} seconds.`, {
    hint: 'Sign in again.',
  })
}

/** As Promise.withResolvers, which Node 20 lacks. */
function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
