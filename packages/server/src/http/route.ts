import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Awaitable, RouteClientMethod } from '@tool-hub/core'
import type { Scope } from '@tool-hub/core/protocol'
import type { z } from 'zod'
import type { Identity } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import type { Concern } from '../call-router.ts'
import type { HttpContext } from './http-context.ts'

/** Who may use a route: callers with any of these scopes, every authenticated caller, or everybody. */
export type Allowed = readonly [Scope, ...Scope[]] | 'callers' | 'everybody'

/** A request with its parsed parameters and its caller. */
export interface Exchange<V extends Caller | undefined = Caller, Q = unknown, B = unknown> {
  readonly context: HttpContext
  readonly caller: V
  /** How the caller was authenticated; absent on open routes. */
  readonly identity: V extends Caller ? Identity : undefined
  /** The decoded value of a parameter of the path. */
  readonly param: (name: string) => string
  readonly query: Q
  readonly body: B
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Returns the same request as a web-standard `Request`. */
  readonly webRequest: () => Request
}

/** A response of a route in the OpenAPI document. Default media type: JSON. */
export interface RouteAnswer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly mediaType?: string
  readonly status?: number
}

/** A route: method, path, access, schemas and handler. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** In the notation of OpenAPI: `/v1/runs/{run}`. */
  readonly path: string
  readonly summary: string
  /** Default: the client has no method for it. */
  readonly client?: RouteClientMethod
  readonly allow: Allowed
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly answers: readonly [RouteAnswer, ...RouteAnswer[]]
  /** The body has the arguments of a call, so the larger limits of calls apply to it. */
  readonly isCall?: boolean
  /** Accepts any `Host`: for probes, which know only the address. */
  readonly isForProbes?: boolean
  /** Its refusals say where to sign in with OAuth. */
  readonly isResource?: boolean
  /** Not in the OpenAPI document, because it has its own protocol. */
  readonly isHidden?: boolean
  /**
   * What a request concerns: of several processes, the one that has it answers. Default: the run that the path names as
   * `{run}`, or nothing.
   */
  concerns?(question: RouteRequest): Awaitable<Concern | undefined>
  /** A method, so that a handler may expect the types that its schemas produce. */
  handle(exchange: Exchange<Caller | undefined, unknown, unknown>): Response | Promise<Response>
}

/** A request before it is handled. */
export interface RouteRequest<Q = unknown, B = unknown>
  extends Pick<Exchange<Caller, Q, B>, 'context' | 'caller' | 'param' | 'query' | 'body' | 'request'> {
  /** Reads the body, which the handler can read again. */
  readonly bytes: () => Promise<Buffer>
}

/** What a request concerns, as its route says. */
export function concernOf(route: Route, question: RouteRequest): Awaitable<Concern | undefined> {
  if (route.concerns) return route.concerns(question)
  return route.path.includes('{run}') ? { run: question.param('run') } : undefined
}

type Handle<V extends Caller | undefined, Q, B> = (exchange: Exchange<V, Q, B>) => Response | Promise<Response>
type Facts = Omit<Route, 'allow' | 'query' | 'body' | 'handle' | 'concerns'>

/** Defines a route for authenticated callers. */
export function defineRoute<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  route: Facts & {
    readonly allow: Exclude<Allowed, 'everybody'>
    readonly query?: Q
    readonly body?: B
    readonly concerns?: (question: RouteRequest<z.output<Q>, z.output<B>>) => Awaitable<Concern | undefined>
    readonly handle: Handle<Caller, z.output<Q>, z.output<B>>
  },
): Route {
  return route as Route
}

/** Defines a route without authentication. */
export function defineOpenRoute<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  route: Facts & {
    readonly query?: Q
    readonly body?: B
    readonly handle: Handle<undefined, z.output<Q>, z.output<B>>
  },
): Route {
  return { ...route, allow: 'everybody' }
}
