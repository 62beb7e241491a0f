import { type BaseContext, type ErrorCode, type GuardedResponse, messageOf, ToolError } from '@tool-hub/core'
import { escapeLine, isPlainObject } from '@tool-hub/core/lib'
import { shownHeaders } from '@tool-hub/runtime/tools'
import { type Parameter, serialiseHeader, serialisePairs, serialisePath } from './parameters.ts'
import type { Body } from './read-body.ts'
import { ownObject, ownText, ownValue } from './read-document.ts'
import type { Operation } from './read-operation.ts'

/** A request as the network guard accepts it. */
export interface ApiRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

type Input = Readonly<Record<string, unknown>>

/** Builds the request of a call: the same for policy, which judges its URL, and for the network. */
export function buildRequest(operation: Operation, input: Input): ApiRequest {
  const given = operation.parameters.filter(({ key }) => isThere(ownValue(input, key)))
  const at = (place: Parameter['place']) => given.filter((parameter) => parameter.place === place)
  const pairs = (parameter: Parameter) => serialisePairs(parameter, input[parameter.key])
  const query = at('query').flatMap(pairs)
  const cookies = at('cookie').flatMap(pairs)
  const headers = at('header').map((parameter) => [parameter.name.toLowerCase(), headerOf(parameter, input)] as const)
  const body = bodyOf(operation.body, ownValue(input, 'body'))
  return {
    url: `${operation.server}${fillPath(operation, input)}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: {
      accept: 'application/json, */*;q=0.5',
      ...Object.fromEntries(headers),
      ...(cookies.length > 0 && { cookie: withoutReference('cookie', cookies.join('; ')) }),
      ...(body !== undefined && { 'content-type': operation.body!.mediaType }),
      ...operation.headers,
    },
    body,
  }
}

/** Every parameter stays one segment of the path: `..` or an empty segment would be another operation. */
function fillPath({ path, parameters }: Operation, input: Input): string {
  const inPath = new Map(parameters.filter(({ place }) => place === 'path').map((each) => [each.name, each]))
  const filled = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const parameter = inPath.get(name)!
    const value = serialisePath(parameter, ownValue(input, parameter.key))
    if (value === '' || climbs(decodeURIComponent(value))) throw leavesPath(parameter.key)
    return value
  })
  if (climbs(filled)) throw leavesPath('')
  return filled
}

function climbs(path: string): boolean {
  return path.split(/[/\\]/).some((part) => /^(\.|%2e){1,2}$/i.test(part))
}

function headerOf(parameter: Parameter, input: Input): string {
  return withoutReference(parameter.key, serialiseHeader(parameter, input[parameter.key]))
}

/** Only the owner decides which secret is sent where. */
function withoutReference(key: string, value: string): string {
  if (!value.includes('${secret:')) return value
  throw new ToolError('INPUT_SCHEMA_INVALID', `${key} names a secret, which no argument of this tool may.`, {
    fix: { key, hint: 'Leave it out: the owner has set how this API knows who asks.' },
  })
}

function bodyOf(body: Body | undefined, value: unknown): string | undefined {
  if (!body || value === undefined) return undefined
  if (body.kind === 'json') return JSON.stringify(value)
  if (body.kind === 'text') return String(value)
  if (!isPlainObject(value)) return ''
  return Object.entries(value)
    .filter(([, field]) => isThere(field))
    .flatMap(([name, field]) => serialisePairs(fieldOf(name, field, body), field))
    .join('&')
}

/** A field of a form, as the document encodes it. Default: lists repeat its name, objects are JSON. */
function fieldOf(name: string, value: unknown, { encoding }: Body) {
  const own = ownObject(encoding, name)
  const style = ownText(own, 'style') === 'deepObject' ? 'deepObject' : 'form'
  const isJson = isPlainObject(value) && ownText(own, 'style') === undefined
  return { name, style, isJson, explode: ownValue(own, 'explode') !== false, allowReserved: false } as const
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null
}

function leavesPath(key: string): ToolError {
  const what = key === '' ? 'The arguments' : key
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `${what} would lead to another place of the API than this operation's.`,
    {
      fix: { key, hint: 'Give a value that is not empty and has no part "." or "..".' },
    },
  )
}

/** Result of calling an operation. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON or text; null without a body; for other content, where it is stored. */
  readonly body: unknown
}

const MAX_WORDS = 300
const TEXT = /^(text\/|[^;]*(json|xml|javascript|yaml|x-www-form-urlencoded))/i

/** Reads a response. Throws for an error status, with the message of the server. */
export async function readResponse(
  response: GuardedResponse,
  { method, path }: Operation,
  ctx: BaseContext,
): Promise<ApiAnswer> {
  const { status } = response
  const bytes = await response.bytes()
  ctx.evidence({ type: 'tool', ref: ctx.callId, summary: `${method} answered ${status}, ${bytes.length} bytes` })
  const answer = { status, headers: shownHeaders(response.headers), body: await readBody(response, bytes, ctx) }
  if (status >= 200 && status < 300) return answer
  const said = wordsOf(answer.body)
  throw new ToolError(codeOf(status), `${method} ${path} answered HTTP ${status}${said && `: ${said}`}`, {
    hint: hintOf(status),
    retryable: status === 429 || status === 408 || status >= 500,
    details: { status, ...retryAfter(response.headers['retry-after'], ctx.now()) },
    data: answer,
  })
}

/** What a model sees of an answer. */
export function showAnswer({ status, body }: ApiAnswer): string {
  const shown = typeof body === 'string' ? body : JSON.stringify(body, undefined, 1)
  return body === null ? `HTTP ${status}` : `HTTP ${status}\n\n${shown}`
}

async function readBody(response: GuardedResponse, bytes: Uint8Array, ctx: BaseContext): Promise<unknown> {
  if (bytes.length === 0) return null
  const type = response.headers['content-type'] ?? ''
  if (type !== '' && !TEXT.test(type)) return keep(bytes, type, ctx)
  const text = await response.text()
  return /json/i.test(type) || type === '' ? parseJson(text) : text
}

/** An image or an archive is not text: it is stored as an artifact. */
async function keep(bytes: Uint8Array, type: string, ctx: BaseContext) {
  const facts = { mediaType: type.split(';', 1)[0]!.trim(), bytes: bytes.length }
  try {
    return { ...facts, artifact: (await ctx.artifact(bytes, { mediaType: facts.mediaType })).ref }
  } catch (error) {
    // The request has had its effect: a failure to store the answer must not hide that.
    ctx.notice(`The body of the answer could not be kept: ${messageOf(error)}`)
    return facts
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Text that is declared as JSON and is not still is an answer.
    return text
  }
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'CONFIG_INVALID'
  if (status === 404 || status === 410) return 'NOT_FOUND'
  if (status === 409 || status === 412) return 'CONFLICT'
  if (status === 408 || status === 504) return 'HTTP_TIMEOUT'
  return status === 429 ? 'RATE_LIMITED' : 'UPSTREAM_ERROR'
}

function hintOf(status: number): string | undefined {
  if (status === 401 || status === 403)
    return 'Have the owner check the secret that the API is called with, and what it may do.'
  return status === 400 || status === 422 ? 'Correct the arguments by what the answer says, and call again.' : undefined
}

/** The fields in which most APIs describe an error. */
function wordsOf(body: unknown): string {
  const error = ownObject(body, 'error')
  const words = ['message', 'detail', 'error_description', 'title', 'error']
  const said = words.map((key) => ownText(body, key) ?? ownText(error, key)).find((text) => text !== undefined)
  return escapeLine((said ?? (typeof body === 'string' ? body : '')).slice(0, MAX_WORDS)).trim()
}

function retryAfter(value: string | undefined, now: number) {
  if (value === undefined) return {}
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return ms >= 0 ? { retryAfterMs: ms } : {}
}
