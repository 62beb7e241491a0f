import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Awaitable } from '@tool-hub/core'
import { after } from '@tool-hub/core/lib'
import { Hono } from 'hono'
import type { z } from 'zod'
import type { Identity } from '../auth/authenticator.ts'
import { requireScope } from '../auth/caller.ts'
import type { OtherProcesses } from '../call-router.ts'
import type { RequestCounts } from '../services/counts.ts'
import { errorAnswer, HttpRefusal, refuseOn, schemaRefusal } from './answers.ts'
import { loadConsole } from './console.ts'
import { describeApi } from './describe-api.ts'
import { HttpContext, type HttpOptions } from './http-context.ts'
import { authenticate, checkHead, checkOpen, discardBody, keepBytes, readJson } from './request.ts'
import { concernOf, type Exchange, type Route, type RouteRequest } from './route.ts'
import { ROUTES } from './route-table.ts'
import { CALL_ROUTE, calledTool } from './routes/call-routes.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE']

const HEADERS =
  'authorization, content-type, idempotency-key, last-event-id, range, x-tool-hub-csrf, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name'

const SHOWN = 'content-range, etag, mcp-session-id, retry-after, www-authenticate'

const A_WHILE_S = '600'

/** The HTTP application as a listener for a Node server. */
export interface HttpApp {
  /** The routes that are served. */
  readonly hono: Hono<{ Bindings: HttpBindings }>
  /** Answers one request. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void
  /** Checks the head of an upgrade request as for any other request; returns a refusal. */
  readonly refuseHead: (request: IncomingMessage) => HttpRefusal | undefined
  readonly report: (error: unknown) => void
  /** The requests that were answered. */
  readonly requests: RequestCounts
  /** Answers `/readyz` with 503 from now on, and everything else as before. */
  drain(): void
  /** Refuses new requests and ends event streams. MCP calls may continue for `graceMs`, others until they end. */
  close(options: { readonly graceMs: number }): Promise<void>
  /** Ends the event streams and MCP sessions of a token that was revoked. */
  dismiss(token: string): void
  /** Bytes of the largest body that is read. */
  readonly maxBodyBytes: number
}

/** Creates the HTTP application: API, MCP, metrics and the console. */
export async function createHttpApp(options: HttpOptions): Promise<HttpApp> {
  let document: string | undefined
  const context = new HttpContext(options, () => {
    document ??= JSON.stringify(describeApi(ROUTES, options.service.version))
    return document
  })
  const console = await loadConsole(options.consoleFolder)
  const hono = new Hono<{ Bindings: HttpBindings }>()
  for (const route of ROUTES) {
    hono[route.method](route.path.replaceAll(/\{(\w+)\}/g, ':$1'), ({ req, env: { incoming, outgoing: response } }) => {
      const request = incoming as IncomingMessage
      const param = (name: string) => req.param(name)!
      const queries = () => onlyOnce(req.queries())
      return answerRoute(context, route, { request, response, param, queries, webRequest: () => req.raw })
    })
  }
  hono.notFound(({ req, env }) => {
    checkOpen(context.authenticator, env.incoming)
    const allowed = METHODS.filter((method) => hono.router.match(method, req.path)[0].length > 0)
    if (allowed.length > 0) throw wrongMethod(req.method, allowed)
    return console.answer(env.incoming) ?? unknownPath(req.path)
  })
  hono.onError((error, { env }) => {
    const { status, headers, body } = errorAnswer(error, context.report)
    discardBody(env.incoming)
    return new Response(body, { status, headers })
  })
  const answer = getRequestListener(hono.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      const { status, headers, body } = errorAnswer(readable(error), context.report)
      return new Response(body, { status, headers })
    },
  })
  const answerCrossOrigin = createCrossOrigin(options.allowedOrigins ?? [])
  const refuseHead = (request: IncomingMessage) => (context.isClosing ? closing() : checkHead(request))
  const app: HttpApp = {
    hono,
    requests: context.requests,
    listener(request, response) {
      context.requests.begin(request, response)
      const refusal = refuseHead(request)
      if (refusal) {
        refuseOn(response, refusal, context.report)
        discardBody(request)
        return
      }
      // The next request of the client comes over a new connection, to wherever it is sent then.
      if (context.isDraining) response.shouldKeepAlive = false
      if (answerCrossOrigin(request, response)) return
      const tool = calledTool(request)
      if (tool === undefined) void answer(request, response)
      else void answerDirectly(context, tool, request, response)
    },
    refuseHead,
    report: context.report,
    drain() {
      context.isDraining = true
    },
    close: (grace) => context.close(grace),
    dismiss: (token) => context.dismiss(token),
    maxBodyBytes: context.callLimits.maxBytes,
  }
  return app
}

function wrongMethod(method: string, allowed: readonly string[]): HttpRefusal {
  return new HttpRefusal(405, 'INPUT_SCHEMA_INVALID', `${method} is not served here.`, {
    hint: `Use ${allowed.join(' or ')}.`,
    headers: { allow: allowed.join(', ') },
  })
}

function unknownPath(path: string): never {
  throw new HttpRefusal(404, 'NOT_FOUND', `Nothing is at ${JSON.stringify(path.slice(0, 200))}.`, {
    hint: 'See /openapi.json for what there is.',
  })
}

function closing(): HttpRefusal {
  return new HttpRefusal(503, 'ABORTED', 'The service is closing.', {
    hint: 'Try again in a moment.',
    headers: { connection: 'close', 'retry-after': '2' },
  })
}

/** Converts the error for a request without a valid Host or path. */
function readable(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'RequestError') return error
  return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The Host or the path of the request cannot be read.')
}

/**
 * Returns a function that sets the CORS headers for allowed origins, and for no others; cookies are not allowed, such
 * pages send a token. It answers preflight requests and then returns `true`. Not Hono's middleware, because calls and
 * event streams are written to Node's own response.
 */
function createCrossOrigin(
  allowedOrigins: readonly string[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const allowed = new Set(allowedOrigins)
  return ({ method, headers }, response) => {
    const { origin } = headers
    if (origin === undefined || !allowed.has(origin)) return false
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', SHOWN)
    response.setHeader('vary', 'origin')
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    response.writeHead(204, {
      'access-control-allow-methods': METHODS.join(', '),
      'access-control-allow-headers': HEADERS,
      'access-control-max-age': A_WHILE_S,
    })
    response.end()
    return true
  }
}

/** A request that a route was found for. */
interface Matched extends Pick<Exchange, 'request' | 'response' | 'param' | 'webRequest'> {
  queries(): unknown
}

/** Answers a request by its route: authenticates the caller, parses query and body, then calls the handler. */
async function answerRoute(context: HttpContext, route: Route, matched: Matched): Promise<Response> {
  const { request, response, param, webRequest } = matched
  context.requests.name(response, route.path)
  const identified = identify(context, route, request)
  const identity = identified instanceof Promise ? await identified : identified
  const caller = identity?.caller
  const query = route.query && parse('query', route.query, matched.queries())
  const limits = route.isCall || route.isResource ? context.callLimits : context.bodyLimits
  const { others } = context.router
  if (others && route.body) await keepBytes(request, limits.maxBytes)
  const body = route.body && parse('body', route.body, await readJson(request, limits, caller?.name))
  if (others && identity && !others.forwardedBy(request)) {
    const question = { context, caller: identity.caller, param, query, body, request }
    const bytes = () => keepBytes(request, limits.maxBytes)
    const isAnswered = await answerElsewhere(others, route, { ...question, bytes, response, identity })
    if (isAnswered) return RESPONSE_ALREADY_SENT
  }
  return route.handle({ context, identity, caller, param, query, body, request, response, webRequest })
}

/** Has a request answered by the process that has what it concerns; returns `false` if that is this one. */
async function answerElsewhere(
  others: OtherProcesses<Identity>,
  route: Route,
  exchange: RouteRequest & Pick<Exchange, 'response' | 'identity'>,
): Promise<boolean> {
  const concern = await concernOf(route, exchange)
  return concern !== undefined && others.answer(concern, exchange)
}

/**
 * Answers a call without Hono, which serves the other routes and knows this one for its methods only: a call is written to Node's own response, and to go
 * through Hono and its Node adapter would take 25 % longer (bench row service-call).
 */
async function answerDirectly(
  context: HttpContext,
  tool: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await answerRoute(context, CALL_ROUTE, { request, response, param: () => tool, queries: none, webRequest: none })
  } catch (error) {
    refuseOn(response, error, context.report)
    discardBody(request)
  }
}

function none(): never {
  throw new Error('A call has no query and is not answered as a web request.')
}

function identify(context: HttpContext, route: Route, request: IncomingMessage): Awaitable<Identity | undefined> {
  if (!(route.isResource && context.resource)) return checkAccess(context, route, request)
  const { resource } = context
  const challenge = (error: unknown): never => {
    throw resource.challenge(error)
  }
  try {
    const identity = checkAccess(context, route, request)
    return identity instanceof Promise ? identity.catch(challenge) : identity
  } catch (error) {
    return challenge(error)
  }
}

function checkAccess(
  { authenticator, router }: HttpContext,
  { allow, isForProbes }: Route,
  request: IncomingMessage,
): Awaitable<Identity | undefined> {
  if (allow === 'everybody') {
    if (!isForProbes) checkOpen(authenticator, request)
    return undefined
  }
  const known = router.others?.forwardedBy(request)
  return after(known ?? authenticate(authenticator, request), (identity) => {
    const { caller } = identity
    if (allow !== 'callers' && !allow.some((scope) => caller.scopes.has(scope))) requireScope(caller, allow[0])
    return identity
  })
}

function parse(part: 'body' | 'query', schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw schemaRefusal(part, parsed.error)
}

/** A repeated parameter stays a list, which no schema accepts. */
function onlyOnce(queries: Record<string, string[]>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
}
