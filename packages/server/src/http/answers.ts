import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, ToolError } from '@tool-hub/core'
import { HttpRefusal } from '@tool-hub/core/errors'
import type { z } from 'zod'
import type { Refusal } from '../auth/auth-request.ts'

export { HttpRefusal }

/** Headers of every API response: no type sniffing, no caching, no reading from other sites. */
export const API_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  // Canvases: pages of the service without an origin.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every page and file of the console. */
export const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const

const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }

/** A JSON response. */
export function answerJson(value: unknown, { status = 200 }: { readonly status?: number } = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: HEADERS })
}

/** A 204 response. */
export function answerNothing(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 204, headers: { ...API_HEADERS, ...headers } })
}

/** Converts a refusal of the authenticator. */
export function refusalFrom({ status, error, headers }: Refusal): HttpRefusal {
  return new HttpRefusal(status, error.code, error.message, { hint: error.fix.hint, headers })
}

const STATUSES: Partial<Record<ErrorCode, number>> = {
  INPUT_SCHEMA_INVALID: 400,
  CONFIG_INVALID: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  POLICY_DENIED: 403,
  TOOL_DISABLED: 403,
  PATH_DENIED: 403,
  PATH_OUTSIDE_SANDBOX: 403,
  APPROVAL_DENIED: 403,
  NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  CONFLICT: 409,
  FILE_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  BUDGET_EXCEEDED: 429,
  ABORTED: 503,
  CLIENT_GONE: 503,
  NO_WORKER: 503,
  WORKER_LOST: 503,
  OUT_OF_RESOURCES: 503,
  RECORDS_UNAVAILABLE: 503,
  RUN_ELSEWHERE: 503,
  RUN_MOVED: 503,
  PROCESS_CUT_OFF: 503,
  SANDBOX_UNAVAILABLE: 503,
  TIMEOUT: 504,
}

/** Status, headers and body of an error response. */
interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const UNEXPECTED = new ToolError('INTERNAL', 'The service failed at this request; its log says why.', {
  hint: 'Try again; give the owner the time of the request if it stays.',
})

/** Converts anything thrown to a response. An unexpected error goes to `report`, not to the client. */
export function errorAnswer(thrown: unknown, report: (error: unknown) => void): ErrorAnswer {
  const isExpected = ToolError.is(thrown) && thrown.code !== 'INTERNAL'
  if (!isExpected) report(thrown)
  const error = isExpected ? thrown : UNEXPECTED
  const { code, message, retryable, fix } = error
  const own = error instanceof HttpRefusal ? error.headers : undefined
  return {
    status: error instanceof HttpRefusal ? error.status : statusOf(code),
    headers: { ...API_HEADERS, 'content-type': 'application/json', ...own },
    body: JSON.stringify({ error: { code, message, retryable, fix } }),
  }
}

/** Writes an error to a response of Node; closes the connection if the response has started. */
export function refuseOn(response: ServerResponse, error: unknown, report: (error: unknown) => void): void {
  const { status, headers, body } = errorAnswer(error, report)
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Refuses an upgrade request with an HTTP response and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  { code, message, retryable, fix }: ToolError,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (socket.destroyed) return
  const body = JSON.stringify({ error: { code, message, retryable, fix } })
  const lines = {
    connection: 'close',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${head.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

/** The HTTP status of an error that is not the result of a call. */
function statusOf(code: ErrorCode): number {
  return STATUSES[code] ?? 500
}

const MAX_ISSUES = 5

/** The refusal of a query or body that does not match its schema. */
export function schemaRefusal(part: 'body' | 'query', { issues }: z.ZodError): HttpRefusal {
  const shown = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${[part, ...path].join('.')}: ${message}`)
  const more = issues.length > MAX_ISSUES ? `; and ${issues.length - MAX_ISSUES} more` : ''
  return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `${shown.join('; ')}${more}.`.slice(0, 2_000), {
    hint: 'See /openapi.json for what this route takes.',
  })
}
