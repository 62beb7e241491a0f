import {
  apiError,
  approval,
  callEntry,
  callRequest,
  fileChange,
  grantEntry,
  policyRule,
  policyState,
  questionEntry,
  recordLine,
  runEntry,
  serviceEvent,
  tokenEntry,
  toolEntry,
  toolResult,
} from '@tool-hub/core/protocol'
import { z } from 'zod'
import type { Route, RouteAnswer } from './route.ts'
import { FEATURE_SCHEMAS } from './routes/feature-routes.ts'
import { SERVICE_SCHEMAS } from './routes/service-routes.ts'

/** The named schemas of the document. */
const NAMED = {
  Approval: approval,
  Call: callEntry,
  CallRequest: callRequest,
  Error: apiError,
  FileChange: fileChange,
  Grant: grantEntry,
  Policy: policyState,
  Question: questionEntry,
  RecordLine: recordLine,
  Rule: policyRule,
  Run: runEntry,
  ServiceEvent: serviceEvent,
  Token: tokenEntry,
  Tool: toolEntry,
  ToolResult: toolResult,
  ...SERVICE_SCHEMAS,
  ...FEATURE_SCHEMAS,
}

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of the routes, generated from the schemas that validate requests. */
export function describeApi(routes: readonly Route[], version: string): Json {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id })
  const shown = routes.filter(({ isHidden }) => !isHidden)
  const bodies = shown.flatMap((route) => [...(route.body ? [route.body] : []), ...answerSchemas(route)])
  // The other schemas need a name to refer to these; it is removed below.
  const inline = new Map<z.ZodType, string>()
  for (const schema of bodies) {
    if (registry.has(schema)) continue
    inline.set(schema, `inline${inline.size}`)
    registry.add(schema, { id: inline.get(schema)! })
  }
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/components/schemas/${id}` })
  const found = new Map(Object.entries(schemas).map(([id, schema]) => [id, withoutMarks(schema as Json)]))
  const schemaOf = (schema: z.ZodType): unknown => {
    const id = inline.get(schema)
    return id === undefined ? { $ref: `#/components/schemas/${registry.get(schema)!.id}` } : found.get(id)
  }
  const paths: Record<string, Json> = {}
  for (const route of shown) {
    paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(route, schemaOf) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'tool-hub',
      version,
      description: 'The governed tool runtime for AI agents. MCP is at /mcp, a WebSocket at /v1/ws.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to the URL of this document.
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.fromEntries([...found].filter(([id]) => Object.hasOwn(NAMED, id))),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An API token, or a JWT where the owner set that up' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'tool_hub_session',
          description: 'Changes need x-tool-hub-csrf',
        },
      },
    },
  }
}

function describeRoute(route: Route, schemaOf: (schema: z.ZodType) => unknown): Json {
  const { method, path, summary, allow, query, body, answers } = route
  const parameters = [...pathParameters(path), ...(query ? queryParameters(query) : [])]
  const isOpen = allow === 'everybody'
  const scopes = typeof allow === 'string' ? [] : allow
  return {
    operationId: operationId(method, path),
    summary,
    tags: [tagOf(path)],
    security: isOpen ? [] : [{ token: scopes }, { session: scopes }],
    ...(scopes.length > 0 && { description: `Needs the scope ${scopes.join(' or ')}.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      '4XX': failure('What is wrong with the request, and what to do about it'),
      ...describeAnswers(answers, schemaOf),
      default: failure('What is wrong, and what to do about it'),
    },
  }
}

function failure(description: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }
}

/** Responses with the same status are merged. */
function describeAnswers(answers: readonly RouteAnswer[], schemaOf: (schema: z.ZodType) => unknown): Json {
  const described: Record<string, { description: string; content?: Json }> = {}
  for (const { status = 200, description, mediaType = 'application/json', schema } of answers) {
    const before = described[status]
    const content = status === 204 ? undefined : { [mediaType]: schema ? { schema: schemaOf(schema) } : {} }
    described[status] = {
      description: before ? `${before.description}. ${description}` : description,
      ...((before?.content || content) && { content: { ...before?.content, ...content } }),
    }
  }
  return described
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(query: z.ZodType): Json[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input' })
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function answerSchemas({ answers }: Route): z.ZodType[] {
  return answers.flatMap(({ schema }) => (schema ? [schema] : []))
}

/** `get /v1/runs/{run}/lines` is `getRunsRunLines`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/v1\//, '').match(/\w+/g) ?? []
  return method + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

function tagOf(path: string): string {
  return /^\/v1\/([a-z]+)/.exec(path)?.[1] ?? 'service'
}

/** Removes `$schema` and `$id`, which the document does not need. */
function withoutMarks({ $schema: _1, $id: _2, ...schema }: Json): Json {
  return schema
}
