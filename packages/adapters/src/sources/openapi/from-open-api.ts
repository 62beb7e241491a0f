import { type AnyTool, type Context, defineTool, messageOf, ToolError, toWireName } from '@tool-hub/core'
import { escapeLine, isPlainObject, sha256 } from '@tool-hub/core/lib'
import { textArguments, toModernSchema } from '@tool-hub/core/schema'
import { type ApiAnswer, buildRequest, readResponse, showAnswer } from './http-exchange.ts'
import { type OpenApiAuth, type OpenApiOptions, OperationFilter, type SkippedOperation } from './options.ts'
import {
  dereference,
  type JsonRecord,
  type OpenApiDocument,
  ownList,
  ownObject,
  ownText,
  ownValue,
  readOpenApiDocument,
  shortText,
} from './read-document.ts'
import { type LocatedOperation, type Operation, readOperation } from './read-operation.ts'

const SECRET_NAME = /^[A-Za-z0-9_.-]{1,100}$/

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

const MAX_LENGTH = 64

const HASH_CHARS = 6

export type { OpenApiAuth, OpenApiOptions, SkippedOperation } from './options.ts'

/** The tools of an API, and the operations that were skipped. */
export interface OpenApiTools {
  /** One for each operation; pass them to `createToolHub`. */
  readonly tools: AnyTool[]
  /** Operations that did not become tools, and why. */
  readonly skipped: SkippedOperation[]
}

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const
const NAMESPACE = /^[A-Za-z][A-Za-z0-9_-]{0,23}$/
const MAX_TOOLS = 1_000
const MAX_WORDS = 1_500
const RETRIES = 2

/**
 * Creates a governed tool for every operation that an OpenAPI document (3.0, 3.1) describes. Requests go through the
 * network guard: policy and `sandbox.network` decide on each URL, and secrets stay with the guard.
 * @example
 * const { tools, skipped } = fromOpenApi(await readFile('petstore.yaml', 'utf8'), { namespace: 'pets', auth: { type: 'bearer', secret: 'petstore' } })
 */
export function fromOpenApi(document: object | string, options: OpenApiOptions = {}): OpenApiTools {
  const read = readOpenApiDocument(document)
  const { namespace = 'api' } = options
  if (!NAMESPACE.test(namespace)) throw badNamespace(namespace)
  const auth = authHeaders(options.auth)
  const filter = new OperationFilter(options.operations)
  const tools: AnyTool[] = []
  const skipped: SkippedOperation[] = []
  const names = new Set<string>()
  for (const place of placesOf(read, skipped)) {
    const { method, path, operation } = place
    if (!filter.takes({ method, path, operationId: ownText(operation, 'operationId'), tags: tagsOf(operation) }))
      continue
    try {
      checkWanted(place, options, tools.length)
      tools.push(toTool(readOperation(read, place, options, auth), place, options, names))
    } catch (error) {
      skipped.push(skippedBy(place, error))
    }
  }
  const unused = filter.unused().map((operation) => ({ operation, reason: 'No operation fits this entry.' }))
  return { tools, skipped: [...skipped, ...unused] }
}

function placesOf(document: OpenApiDocument, skipped: SkippedOperation[]): LocatedOperation[] {
  return Object.entries(ownObject(document.root, 'paths')).flatMap(([path, given]) => {
    try {
      const pathItem = dereference(document, given)
      if (!isPlainObject(pathItem)) return []
      return METHODS.flatMap((method) => {
        const operation = ownValue(pathItem, method)
        return isPlainObject(operation) ? [{ method: method.toUpperCase(), path, pathItem, operation }] : []
      })
    } catch (error) {
      skipped.push(skippedBy({ method: '*', path }, error))
      return []
    }
  })
}

function tagsOf(operation: JsonRecord): string[] {
  return ownList(operation, 'tags').filter((tag) => typeof tag === 'string')
}

function checkWanted({ method, operation }: LocatedOperation, { deprecated }: OpenApiOptions, count: number): void {
  if (ownValue(operation, 'deprecated') === true && !deprecated)
    throw new ToolError('CONFIG_INVALID', 'It is deprecated; the option deprecated takes such ones, too.')
  if (method === 'TRACE') throw new ToolError('CONFIG_INVALID', 'The network guard sends no TRACE.')
  if (count >= MAX_TOOLS)
    throw new ToolError(
      'CONFIG_INVALID',
      `There are ${MAX_TOOLS} tools already; choose some with the option operations.`,
    )
}

function toTool(
  operation: Operation,
  { operation: given }: LocatedOperation,
  { namespace = 'api', timeoutMs }: OpenApiOptions,
  names: Set<string>,
): AnyTool {
  const { method, path } = operation
  // A schema that cannot be shown would break the list of all tools.
  toModernSchema(operation.input, 'input')
  const tag = tagsOf(given)[0]
  const targets = (input: unknown) => {
    const { url } = buildRequest(operation, input as JsonRecord)
    return isSending(method) ? { network: url, send: url } : { network: url }
  }
  const capabilities: readonly ('network' | 'send')[] = isSending(method) ? ['network', 'send'] : ['network']
  return defineTool({
    kind: 'openapi',
    name: operationName({ namespace, tag, operationId: ownText(given, 'operationId'), method, path }, names),
    title: shortText(ownText(given, 'summary') ?? `${method} ${path}`, 100),
    description: describe(operation, given),
    input: operation.input,
    output: ANSWER,
    texts: textArguments(operation.input),
    capabilities,
    targets,
    group: namespace,
    // The request has its own timeout, and the call needs time to report it.
    timeoutMs: timeoutMs === undefined ? undefined : timeoutMs + 5_000,
    execute: (input: unknown, ctx) => send(operation, input as JsonRecord, ctx, timeoutMs),
    toModel: (answer) => showAnswer(answer as ApiAnswer),
  })
}

const ANSWER = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    body: { description: 'The JSON or text of the answer; null without any; of other content where it is kept.' },
  },
  required: ['status', 'headers', 'body'],
  additionalProperties: false,
}

async function send(operation: Operation, input: JsonRecord, ctx: Context<'network'>, timeoutMs: number | undefined) {
  const { url, headers, body } = buildRequest(operation, input)
  const { method } = operation
  const retries = isSending(method) ? 0 : RETRIES
  const response = await ctx.fetch(url, {
    method,
    headers,
    retries,
    ...(body !== undefined && { body }),
    ...(timeoutMs && { timeoutMs }),
  })
  return readResponse(response, operation, ctx)
}

function isSending(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

function describe({ method, path }: Operation, given: JsonRecord): string {
  const summary = ownText(given, 'summary') ?? ''
  const words = ownText(given, 'description') ?? ''
  const text = words.startsWith(summary) ? words : `${summary}\n\n${words}`
  return `${shortText(text.trim(), MAX_WORDS)}\n\n${shortText(`${method} ${path}`, 200)}`.trim()
}

function skippedBy({ method, path }: Pick<LocatedOperation, 'method' | 'path'>, error: unknown): SkippedOperation {
  return {
    operation: `${method} ${escapeLine(path.slice(0, 200))}`,
    reason: escapeLine(messageOf(error).slice(0, 500)),
  }
}

function badNamespace(namespace: string): ToolError {
  return new ToolError('CONFIG_INVALID', `Invalid tool namespace ${JSON.stringify(namespace)}.`, {
    hint: 'Use letters, digits, _ and -, beginning with a letter, at most 24: github.',
  })
}

/** What the name of an operation is built from. */
interface NameParts {
  readonly namespace: string
  readonly tag: string | undefined
  readonly operationId: string | undefined
  readonly method: string
  readonly path: string
}

/**
 * `<namespace>/<tag>.<operationId>` as a tool name. A name that is too long or taken ends with a hash of method and
 * path.
 */
function operationName(parts: NameParts, taken: Set<string>): string {
  const tag = plain(parts.tag)
  const id = plain(parts.operationId) || plain(`${parts.method.toLowerCase()} ${parts.path}`) || 'operation'
  const whole = `${parts.namespace}/${tag ? `${tag}.` : ''}${id}`
  const isFree = whole.length <= MAX_LENGTH && !taken.has(toWireName(whole))
  const mark = sha256(`${parts.method} ${parts.path}`).slice(0, HASH_CHARS)
  const name = isFree ? whole : `${whole.slice(0, MAX_LENGTH - HASH_CHARS - 1).replace(/[./]$/, '')}-${mark}`
  taken.add(toWireName(name))
  return name
}

function plain(text = ''): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')
}

/** The headers that authenticate requests. They name the secret; the network guard fills it in at the last moment. */
function authHeaders(auth: OpenApiAuth | undefined): Readonly<Record<string, string>> {
  if (!auth) return {}
  if (auth.type === 'query') throw inUrl(auth.name)
  if (!SECRET_NAME.test(auth.secret)) throw unusable(`Invalid secret name ${JSON.stringify(auth.secret)}.`)
  const reference = `\${secret:${auth.secret}}`
  switch (auth.type) {
    case 'bearer':
      return { authorization: `Bearer ${reference}` }
    case 'basic':
      return { authorization: `Basic ${reference}` }
    case 'header': {
      const name = auth.name.toLowerCase()
      if (!HEADER_NAME.test(name)) throw unusable(`Invalid header name ${JSON.stringify(auth.name)}.`)
      return { [name]: reference }
    }
    default:
      throw unusable(`The type ${JSON.stringify((auth as { type: unknown }).type)} is not known.`)
  }
}

function inUrl(name: string): ToolError {
  return new ToolError('CONFIG_INVALID', `A secret cannot be sent in the URL, as ${JSON.stringify(name)}.`, {
    hint: 'URLs end up in logs and records. Most APIs take the key in a header too: { type: "header", name: "X-Api-Key", secret }.',
  })
}

function unusable(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The option auth cannot be used: ${message}`, {
    hint: 'Give { type: "bearer", secret: "github" }, the name of a secret of the hub.',
  })
}
