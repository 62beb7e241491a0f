import { type FetchOptions, ToolError } from '../../core/index.ts'

/** What is sent: checked, header names in lower case. */
export interface RequestParts {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | undefined
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
// Methods that only ask (RFC 9110, safe): they send nothing but the URL and the headers.
const ASKING = new Set<string>(['GET', 'HEAD', 'OPTIONS'])
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
// They steer the connection or the framing of the message, which are the guard's.
const FORBIDDEN = /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/
const DEFAULT_ENCODING = 'gzip, br'

/** The headers of a request for which a tool names none. */
export function defaultHeaders(userAgent: string): ReadonlyMap<string, string> {
  return new Map([
    ['user-agent', userAgent],
    ['accept-encoding', DEFAULT_ENCODING],
  ])
}

/** Checks what a tool wants to send. */
export function checkHttpRequest(
  { method: wanted = 'GET', headers, body }: Pick<FetchOptions, 'method' | 'headers' | 'body'>,
  defaults: ReadonlyMap<string, string>,
): RequestParts {
  const upper = String(wanted).toUpperCase()
  const method = METHODS.find((known) => known === upper)
  if (!method) throw invalid(`The method ${JSON.stringify(upper)} is not one of ${METHODS.join(', ')}.`)
  if (body !== undefined && typeof body !== 'string') throw invalid(`A body is a string, not ${typeof body}.`)
  if (body !== undefined && ASKING.has(method)) throw invalid(`${method} has no body.`)
  return { method, headers: headers ? checkHeaders(headers, defaults) : defaults, body }
}

/** True for a request that may carry data out, which needs more than the right to ask. */
export function isSending(method: RequestParts['method']): boolean {
  return !ASKING.has(method)
}

/** True when a header can carry the value as one value. */
export function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && FIELD_VALUE.test(value)
}

function checkHeaders(given: Readonly<Record<string, string>>, defaults: ReadonlyMap<string, string>) {
  const headers = new Map(defaults)
  for (const [spelled, value] of Object.entries(given)) {
    const name = spelled.toLowerCase()
    if (!TOKEN.test(name)) throw invalid(`${JSON.stringify(name)} is not a header name.`)
    if (FORBIDDEN.test(name)) throw invalid(`The header ${name} is set by the guard, not by a tool.`, 'Leave it out.')
    if (!isFieldValue(value)) throw invalid(`The value of the header ${name} has a character that no header can carry.`)
    headers.set(name, value)
  }
  return headers
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
