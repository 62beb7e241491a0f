import { ToolError } from '../../errors.ts'
import { SchemaConverter } from './convert-schema.ts'
import type { OpenApiOptions } from './open-api-options.ts'
import { type JsonObject, ownValue } from './own-value.ts'
import type { Parameter } from './parameter.ts'
import { type Body, readBody } from './read-body.ts'
import type { OpenApiDocument } from './read-document.ts'
import { readParameters } from './read-parameters.ts'
import { serverUrl } from './server-url.ts'

/** An operation, ready to be sent. */
export interface Operation {
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  readonly server: string
  readonly parameters: readonly Parameter[]
  readonly body: Body | undefined
  /** Schema of the arguments of its tool. */
  readonly input: JsonObject
  /** Headers that every request has; secrets by name. */
  readonly headers: Readonly<Record<string, string>>
}

/** Where an operation stands in its document. */
export interface OperationPlace {
  readonly method: string
  readonly path: string
  readonly pathItem: JsonObject
  readonly operation: JsonObject
}

const ASKING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Reads one operation; throws when it cannot be a tool. */
export function readOperation(
  document: OpenApiDocument,
  { method, path, pathItem, operation }: OperationPlace,
  { server }: OpenApiOptions,
  auth: Readonly<Record<string, string>>,
): Operation {
  const converter = new SchemaConverter(document)
  const isPublic = isEmptyList(ownValue(operation, 'security'))
  const parameters = readParameters(document, [pathItem, operation], converter, new Set(Object.keys(auth)))
  checkPath(path, parameters)
  const body = bodyOf(document, method, operation, converter)
  return {
    method,
    path,
    server: serverUrl([operation, pathItem, document.root], server),
    parameters,
    body,
    input: inputSchema(parameters, body, converter),
    headers: isPublic ? {} : auth,
  }
}

/** True where the document says that nobody has to say who they are. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function bodyOf(document: OpenApiDocument, method: string, operation: JsonObject, converter: SchemaConverter) {
  if (!ASKING.has(method)) return readBody(document, operation, converter)
  if (ownValue(operation, 'requestBody') === undefined) return undefined
  throw new ToolError('CONFIG_INVALID', `It is a ${method} with a body, which many servers and proxies drop.`)
}

function checkPath(path: string, parameters: readonly Parameter[]): void {
  if (!/^\/[^?#]*$/.test(path)) throw new ToolError('CONFIG_INVALID', 'Its path is none: "/…" without ? and #.')
  const known = new Set(parameters.filter(({ place }) => place === 'path').map(({ name }) => name))
  const named = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!)
  const missing = named.find((name) => !known.has(name))
  if (missing === undefined) return
  throw new ToolError('CONFIG_INVALID', `Its path has the parameter ${missing}, which is not described.`)
}

function inputSchema(parameters: readonly Parameter[], body: Body | undefined, converter: SchemaConverter): JsonObject {
  const properties = parameters.map(({ key, schema }) => [key, schema] as const)
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ key }) => key)
  const definitions = converter.definitions()
  return {
    type: 'object',
    properties: Object.fromEntries(body ? [...properties, ['body', body.schema]] : properties),
    required: body?.isRequired ? [...required, 'body'] : required,
    additionalProperties: false,
    ...(definitions && { $defs: definitions }),
  }
}
