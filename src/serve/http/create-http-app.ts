import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { errorAnswer } from './answer/error-answer.ts'
import { HttpRefusal } from './answer/http-refusal.ts'
import { answerCall, refuseOn } from './call/answer-call.ts'
import { checkHead, checkOpen } from './check-request.ts'
import { loadConsole } from './console/load-console.ts'
import { createCrossOrigin } from './cross-origin.ts'
import { describeApi } from './describe/describe-api.ts'
import { HttpDoor } from './http-door.ts'
import type { HttpParts } from './http-parts.ts'
import { discardBody } from './read-body.ts'
import { ROUTES } from './route-table.ts'
import { serveRoute } from './serve-route.ts'

/** The HTTP door, for a server of Node's to hand requests to. */
export interface HttpApp {
  /** The routes that are served. */
  readonly hono: Hono<{ Bindings: HttpBindings }>
  /** Answers one request. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void
  /** What is wrong with the head of a request that asks for another protocol: the same checks as for the rest. */
  readonly refuseHead: (request: IncomingMessage) => HttpRefusal | undefined
  readonly report: (error: unknown) => void
  /** Takes no more, ends streams of events, lets MCP's calls go on for `graceMs`. Calls of others go on by themselves. */
  close(options: { readonly graceMs: number }): Promise<void>
}

/** A call's path as most write it: then Hono need not be asked, which would cost as much again as the call. */
const CALL = /^\/v1\/tools\/([^/?#]+)\/call$/

/** Makes the HTTP door: API, MCP, metrics and the console. */
export async function createHttpApp(parts: HttpParts): Promise<HttpApp> {
  let document: string | undefined
  const door = new HttpDoor(parts, () => {
    document ??= JSON.stringify(describeApi(ROUTES, parts.service.version))
    return document
  })
  const console = await loadConsole(parts.consoleFolder)
  const hono = new Hono<{ Bindings: HttpBindings }>()
  for (const route of ROUTES) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    hono[route.method](path, (context) => serveRoute(door, route, context))
  }
  hono.notFound(({ req, env }) => {
    checkOpen(door.doorkeeper, env.incoming)
    const allowed = methodsAt(req.path)
    if (allowed.length > 0) throw wrongMethod(req.method, allowed)
    return console.answer(env.incoming) ?? unknownPath(req.path)
  })
  hono.onError((error) => {
    const { status, headers, body } = errorAnswer(error, door.report)
    return new Response(body, { status, headers })
  })
  const answerRest = getRequestListener(hono.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      const { status, headers, body } = errorAnswer(readable(error), door.report)
      return new Response(body, { status, headers })
    },
  })
  const answerCrossOrigin = createCrossOrigin(parts.allowedOrigins ?? [])
  const refuseHead = (request: IncomingMessage) => (door.isClosing ? closing() : checkHead(request))
  return {
    hono,
    listener(request, response) {
      const refusal = refuseHead(request)
      if (refusal) {
        refuseOn(response, refusal, door.report)
        discardBody(request)
        return
      }
      if (answerCrossOrigin(request, response)) return
      const name = request.method === 'POST' ? nameOf(request.url!) : undefined
      if (name === undefined) void answerRest(request, response)
      else void answerCall(door, name, request, response)
    },
    refuseHead,
    report: door.report,
    close: (options) => door.close(options),
  }
}

function nameOf(url: string): string | undefined {
  const [, name] = CALL.exec(url) ?? []
  if (name === undefined || !name.includes('%')) return name
  try {
    return decodeURIComponent(name)
  } catch {
    // Hono has words for it.
    return undefined
  }
}

const PATTERNS = ROUTES.map(({ method, path }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

function methodsAt(path: string): string[] {
  return PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
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

/** A request that is none of the web's, such as one with a Host that names nothing. */
function readable(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'RequestError') return error
  return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The Host or the path of the request cannot be read.')
}
