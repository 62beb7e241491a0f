import { type FetchOptions, ToolError } from '@tool-hub/core'

/** A checked request; header names are in lower case. */
export interface RequestParts {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | undefined
}

/** One request of an exchange. */
export interface Hop extends RequestParts {
  readonly url: URL
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
// Safe methods (RFC 9110): they send nothing but the URL and the headers.
const ASKING = new Set<string>(['GET', 'HEAD', 'OPTIONS'])
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
// They control the connection or the framing of the message, which only the guard may do.
const FORBIDDEN = /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/
const DEFAULT_ENCODING = 'gzip, br'

/** The headers of a request for which a tool specifies none. */
export function defaultHeaders(userAgent: string): ReadonlyMap<string, string> {
  return new Map([
    ['user-agent', userAgent],
    ['accept-encoding', DEFAULT_ENCODING],
  ])
}

/** Checks a request of a tool. Throws INPUT_SCHEMA_INVALID if it cannot be sent as it is. */
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

/** Whether a request may carry data out, which needs a further permission. */
export function isSending(method: RequestParts['method']): boolean {
  return !ASKING.has(method)
}

/** Whether a header can carry the value. */
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
