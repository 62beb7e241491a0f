import { type BaseContext, type ErrorCode, type GuardedResponse, messageOf, ToolError } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { shownHeaders } from '../../tools/index.ts'
import { ownObject, ownText } from './read-document.ts'
import type { Operation } from './read-operation.ts'

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
