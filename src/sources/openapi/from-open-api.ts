import { type AnyTool, type Context, defineTool } from '../../define.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { toModernSchema } from '../../schema/to-modern-schema.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { authHeaders } from './auth-headers.ts'
import { buildRequest } from './build-request.ts'
import { dereference } from './find-reference.ts'
import type { OpenApiOptions, SkippedOperation } from './open-api-options.ts'
import { OperationFilter } from './operation-filter.ts'
import { operationName } from './operation-name.ts'
import { type JsonObject, ownList, ownObject, ownText, ownValue } from './own-value.ts'
import { type OpenApiDocument, readDocument } from './read-document.ts'
import { type Operation, type OperationPlace, readOperation } from './read-operation.ts'
import { type ApiAnswer, readResponse, showAnswer } from './read-response.ts'
import { shortText } from './short-text.ts'

export type { OpenApiAuth, OpenApiOptions, SkippedOperation } from './open-api-options.ts'

/** The tools of an API, and what of it became none. */
export interface OpenApiTools {
  /** One for each operation; pass them to `createToolHub`. */
  readonly tools: AnyTool[]
  /** Operations that did not become tools, and why. */
  readonly skipped: SkippedOperation[]
}

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const
const NAMESPACE = /^[A-Za-z][A-Za-z0-9_-]{0,23}$/
const MOST_TOOLS = 1_000
const MOST_WORDS = 1_500
const RETRIES = 2

/**
 * Makes a governed tool of every operation of an HTTP API that OpenAPI (3.0, 3.1) describes. Requests go through the
 * network guard, so policy and `sandbox.network` decide on each URL, and secrets stay with the guard.
 * @example
 * const { tools, skipped } = fromOpenApi(await readFile('petstore.yaml', 'utf8'), { namespace: 'pets', auth: { type: 'bearer', secret: 'petstore' } })
 */
export function fromOpenApi(document: object | string, options: OpenApiOptions = {}): OpenApiTools {
  const read = readDocument(document)
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

function placesOf(document: OpenApiDocument, skipped: SkippedOperation[]): OperationPlace[] {
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

function tagsOf(operation: JsonObject): string[] {
  return ownList(operation, 'tags').filter((tag) => typeof tag === 'string')
}

function checkWanted({ method, operation }: OperationPlace, { deprecated }: OpenApiOptions, count: number): void {
  if (ownValue(operation, 'deprecated') === true && !deprecated)
    throw new ToolError('CONFIG_INVALID', 'It is deprecated; the option deprecated takes such ones, too.')
  if (method === 'TRACE') throw new ToolError('CONFIG_INVALID', 'The network guard sends no TRACE.')
  if (count >= MOST_TOOLS)
    throw new ToolError(
      'CONFIG_INVALID',
      `There are ${MOST_TOOLS} tools already; choose some with the option operations.`,
    )
}

function toTool(
  operation: Operation,
  { operation: given }: OperationPlace,
  { namespace = 'api', timeoutMs }: OpenApiOptions,
  names: Set<string>,
): AnyTool {
  const { method, path } = operation
  // What cannot be shown would spoil the list of all tools.
  toModernSchema(operation.input, 'input')
  const tag = tagsOf(given)[0]
  const targets = (input: unknown) => {
    const { url } = buildRequest(operation, input as JsonObject)
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
    capabilities,
    targets,
    group: namespace,
    // A request has a limit of its own, and time to tell of it.
    timeoutMs: timeoutMs === undefined ? undefined : timeoutMs + 5_000,
    execute: (input: unknown, ctx) => send(operation, input as JsonObject, ctx, timeoutMs),
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

async function send(operation: Operation, input: JsonObject, ctx: Context<'network'>, timeoutMs: number | undefined) {
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

function describe({ method, path }: Operation, given: JsonObject): string {
  const summary = ownText(given, 'summary') ?? ''
  const words = ownText(given, 'description') ?? ''
  const text = words.startsWith(summary) ? words : `${summary}\n\n${words}`
  return `${shortText(text.trim(), MOST_WORDS)}\n\n${shortText(`${method} ${path}`, 200)}`.trim()
}

function skippedBy({ method, path }: Pick<OperationPlace, 'method' | 'path'>, error: unknown): SkippedOperation {
  return {
    operation: `${method} ${escapeLine(path.slice(0, 200))}`,
    reason: escapeLine(messageOf(error).slice(0, 500)),
  }
}

function badNamespace(namespace: string): ToolError {
  return new ToolError('CONFIG_INVALID', `${JSON.stringify(namespace)} is no namespace for tools.`, {
    hint: 'Use letters, digits, _ and -, beginning with a letter, at most 24: github.',
  })
}
