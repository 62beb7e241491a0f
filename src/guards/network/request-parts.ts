import { ToolError } from '../../errors.ts'

/** What a tool may say about a request. */
export interface RequestInit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly maxBytes?: number
}

/** What is sent: checked, header names in lower case. */
export interface RequestParts {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | undefined
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
// They steer the connection or the framing of the message, which are the guard's.
const FORBIDDEN = /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/
const DEFAULT_ENCODING = 'gzip, br'

/** Checks what a tool wants to send. */
export function checkRequest(init: RequestInit, userAgent: string): RequestParts {
  const { body } = init
  const wanted = String(init.method ?? 'GET').toUpperCase()
  const method = METHODS.find((known) => known === wanted)
  if (!method) throw invalid(`The method ${JSON.stringify(wanted)} is not one of ${METHODS.join(', ')}.`)
  if (body !== undefined && typeof body !== 'string') throw invalid(`A body is a string, not ${typeof body}.`)
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw invalid(`A ${method} request has no body.`)
  const headers = new Map([
    ['user-agent', userAgent],
    ['accept-encoding', DEFAULT_ENCODING],
  ])
  for (const [name, value] of Object.entries(init.headers ?? {})) headers.set(...checkHeader(name.toLowerCase(), value))
  return { method, headers, body }
}

function checkHeader(name: string, value: string): [string, string] {
  if (!TOKEN.test(name)) throw invalid(`${JSON.stringify(name)} is not a header name.`)
  if (FORBIDDEN.test(name)) throw invalid(`The header ${name} is set by the guard, not by a tool.`, 'Leave it out.')
  if (typeof value === 'string' && FIELD_VALUE.test(value)) return [name, value]
  throw invalid(`The value of the header ${name} has a character that no header can carry.`)
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
