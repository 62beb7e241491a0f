import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { z } from 'zod'
import { requireScope } from '../auth/require-scope.ts'
import { admit } from './admit.ts'
import { checkOpen } from './check-request.ts'
import type { HttpDoor } from './http-door.ts'
import { readJson } from './read-body.ts'
import type { Exchange, Route } from './route.ts'
import { schemaRefusal } from './schema-refusal.ts'

/** Answers one request by its route: who asks, what for, then the route itself. */
export async function serveRoute(
  door: HttpDoor,
  route: Route,
  { req, env }: Context<{ Bindings: HttpBindings }>,
): Promise<Response> {
  const { incoming: request, outgoing: response } = env as { incoming: IncomingMessage } & HttpBindings
  const admission = route.isOnItsOwn ? undefined : await whoAsks(door, route, request)
  const query = route.query && parse('query', route.query, onlyOnce(req.queries()))
  const readsBody = route.body !== undefined && !route.isOnItsOwn
  const body = readsBody ? parse('body', route.body!, await readJson(request, door.bodyLimits)) : undefined
  const params = new Map(Object.entries(req.param()))
  const exchange = {
    door,
    admission,
    visitor: admission?.visitor,
    params,
    query,
    body,
    request,
    response,
    webRequest: req.raw,
  }
  return route.handle(exchange as unknown as Exchange<never, never, never>)
}

async function whoAsks(door: HttpDoor, route: Route, request: IncomingMessage) {
  try {
    return await identify(door, route, request)
  } catch (error) {
    throw route.isResource && door.resource ? door.resource.challenge(error) : error
  }
}

async function identify({ doorkeeper }: HttpDoor, { admits, isForProbes }: Route, request: IncomingMessage) {
  if (admits === 'everybody') {
    if (!isForProbes) checkOpen(doorkeeper, request)
    return undefined
  }
  const admission = await admit(doorkeeper, request)
  const { visitor } = admission
  if (admits !== 'visitors' && !admits.some((scope) => visitor.scopes.has(scope))) requireScope(visitor, admits[0])
  return admission
}

function parse(part: 'body' | 'query', schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw schemaRefusal(part, parsed.error)
}

/** What is said twice is left as a list, which no schema takes. */
function onlyOnce(queries: Record<string, string[]>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
}
