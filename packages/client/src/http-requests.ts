import type { ErrorCode, Fix } from '@tool-hub/core'
import type { Me } from '@tool-hub/core/protocol'
import type { ClientOptions } from './client-options.ts'

/** The longest time that a request waits in total because it came too early. */
const MAX_WAIT_MS = 5_000

/** An error of the service. The failure of a tool is not such an error, but a result that is not `ok`. */
export class ApiError extends Error {
  /** The code of the error table; `UPSTREAM_ERROR` if there was no response. */
  readonly code: ErrorCode
  /** Whether a retry may succeed. */
  readonly retryable: boolean
  /** What to do next; the hint is empty if the service sent none. */
  readonly fix: Fix
  /** HTTP status; 0 if there was no response. */
  readonly status: number

  constructor(
    code: ErrorCode,
    message: string,
    { retryable = false, fix = { hint: '' }, status = 0, cause }: ApiErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ApiError'
    this.code = code
    this.retryable = retryable
    this.fix = fix
    this.status = status
  }
}

/** Options of `ApiError`. */
interface ApiErrorOptions {
  /** Whether a retry may succeed. Default: `false`. */
  readonly retryable?: boolean
  /** What to do next. Default: an empty hint. */
  readonly fix?: Fix
  /** HTTP status. Default: 0, no response. */
  readonly status?: number
  /** The error behind this one. */
  readonly cause?: unknown
}

/** The error of a response that is not 2xx, or that breaks off with one; its body may come from a proxy. */
export function readApiError(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: Partial<Pick<ApiError, 'code' | 'message' | 'retryable' | 'fix'>> }
  const { code = 'UPSTREAM_ERROR', message = `The service answered ${status}.`, fix } = error ?? {}
  const { retryable = status === 429 || status >= 500 } = error ?? {}
  return new ApiError(code, String(message), { retryable, status, fix })
}

type ServiceMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** One request. */
interface HttpRequest {
  /** Parameters of the URL; `undefined` leaves one out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown
  /** Further headers; they win over the client's own. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stops the request when it aborts. */
  readonly signal?: AbortSignal
  /** The request needs no cookie, so no CSRF value. */
  readonly isOpen?: boolean
}

/** Sends requests to the service, with a token or a cookie. */
export class HttpRequests {
  /** URL of the service without a trailing slash. */
  readonly base: string
  readonly #token: string | undefined
  readonly #fetch: typeof fetch
  /** The CSRF value for changes with a cookie. */
  #csrf: string | undefined

  constructor({ url = pageOrigin(), token, fetch: given = globalThis.fetch }: ClientOptions) {
    this.base = url.replace(/\/+$/, '')
    this.#token = token
    // A browser's fetch wants to be called on its window.
    this.#fetch = given.bind(globalThis)
  }

  /** Returns the JSON of a response; throws an `ApiError` if it is not 2xx. */
  async json<T>(method: ServiceMethod, path: string, request: HttpRequest = {}): Promise<T> {
    const response = await this.send(method, path, request)
    return (await this.#bodyOf(response, request)) as T
  }

  /**
   * Returns the response; throws an `ApiError` if it is not 2xx. A request that came too early, and was not handled, is
   * repeated when the service says, unless that takes long.
   */
  async send(method: ServiceMethod, path: string, request: HttpRequest = {}): Promise<Response> {
    let leftMs = MAX_WAIT_MS
    for (;;) {
      const response = await this.#request(method, path, request)
      if (response.ok) return response
      const error = readApiError(response.status, await readBody(response).catch(() => undefined))
      const waitMs =
        response.status === 429 ? Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000 : Number.NaN
      if (!(waitMs > 0 && waitMs <= leftMs)) throw error
      leftMs -= waitMs
      await waitFor(waitMs, request.signal)
      request.signal?.throwIfAborted()
    }
  }

  /** Sets the CSRF value after signing in or out. */
  remember(csrf: string | undefined): void {
    this.#csrf = csrf
  }

  async #request(
    method: ServiceMethod,
    path: string,
    { query = {}, body, headers, signal, isOpen }: HttpRequest,
  ): Promise<Response> {
    const isChange = method !== 'GET' && !isOpen
    const csrf = isChange && this.#token === undefined ? await this.#readCsrf() : undefined
    try {
      return await this.#fetch(`${this.base}${path}${writeQuery(query)}`, {
        method,
        signal,
        credentials: this.#token === undefined ? 'same-origin' : 'omit',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
          ...(csrf !== undefined && { 'x-tool-hub-csrf': csrf }),
          ...headers,
        },
      })
    } catch (cause) {
      if (signal?.aborted) throw cause
      throw new ApiError('UPSTREAM_ERROR', `${this.base} ${whatFailed(cause)}`, { retryable: true, cause })
    }
  }

  async #bodyOf(response: Response, { signal }: HttpRequest): Promise<unknown> {
    try {
      return await readBody(response)
    } catch (cause) {
      if (signal?.aborted || cause instanceof SyntaxError) throw cause
      throw new ApiError('UPSTREAM_ERROR', `${this.base} ended the connection before its answer was complete.`, {
        fix: { hint: CALL_AGAIN },
        retryable: true,
        cause,
      })
    }
  }

  async #readCsrf(): Promise<string | undefined> {
    if (this.#csrf !== undefined) return this.#csrf
    const response = await this.#request('GET', '/v1/me', {})
    if (response.ok) this.#csrf = ((await response.json()) as Me).csrf
    return this.#csrf
  }
}

const CALL_AGAIN = 'An approval that the call waits for stays open: repeat the same call to continue waiting.'

/** Only a connection that was never made counts as unreachable. */
function whatFailed(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return `was reached, but the HTTP client stopped waiting for its answer. ${CALL_AGAIN}`
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET')
    return `ended the connection before it answered. ${CALL_AGAIN}`
  return 'cannot be reached.'
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

function writeQuery(query: NonNullable<HttpRequest['query']>): string {
  const said = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  )
  return said.length === 0 ? '' : `?${new URLSearchParams(said)}`
}

function pageOrigin(): string {
  const { location } = globalThis as { location?: { origin?: string } }
  if (location?.origin) return location.origin
  throw new TypeError('createClient needs url outside of a browser page.')
}

/** Waits for a time, or until the signal aborts. */
export function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    if (signal?.aborted) done()
  })
}
