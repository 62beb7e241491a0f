import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { Scope } from '../../protocol/index.ts'
import type { Identity } from '../auth/authenticator.ts'
import type { Caller } from '../service.ts'
import type { HttpContext } from './http-context.ts'

/** Who may use a route: one with any of these scopes, everybody who is known, or everybody. */
export type Allowed = readonly [Scope, ...Scope[]] | 'callers' | 'everybody'

/** A request on its way to its answer; everything in it was checked. */
export interface Exchange<V extends Caller | undefined = Caller, Q = unknown, B = unknown> {
  readonly context: HttpContext
  readonly caller: V
  /** How the caller came in; as much there as the caller is. */
  readonly identity: V extends Caller ? Identity : undefined
  readonly params: ReadonlyMap<string, string>
  readonly query: Q
  readonly body: B
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The same in the web's own form. */
  readonly webRequest: Request
}

/** What a route answers, for the document; JSON unless said. */
export interface RouteAnswer {
  readonly description: string
  readonly schema?: z.ZodType
  readonly mediaType?: string
  readonly status?: number
}

/** One line of the route table: what is served, to whom, what it takes and gives. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** As OpenAPI writes it: `/v1/runs/{run}`. */
  readonly path: string
  readonly summary: string
  readonly allow: Allowed
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly answers: readonly [RouteAnswer, ...RouteAnswer[]]
  /** The body has the arguments of a call, so the larger limits of calls apply to it. */
  readonly isCall?: boolean
  /** Under whichever name the server was addressed: for probes, which know only its address. */
  readonly isForProbes?: boolean
  /** Says in its refusals where to sign in with OAuth. */
  readonly isResource?: boolean
  /** Not in the document: a protocol of its own. */
  readonly isHidden?: boolean
  readonly handle: (exchange: Exchange<never, never, never>) => Response | Promise<Response>
}

type Handle<V extends Caller | undefined, Q, B> = (exchange: Exchange<V, Q, B>) => Response | Promise<Response>
type Facts = Omit<Route, 'allow' | 'query' | 'body' | 'handle'>

/** A route for those who are known. */
export function defineRoute<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  route: Facts & {
    readonly allow: Exclude<Allowed, 'everybody'>
    readonly query?: Q
    readonly body?: B
    readonly handle: Handle<Caller, z.output<Q>, z.output<B>>
  },
): Route {
  return route
}

/** A route for everybody; nobody is asked who they are. */
export function defineOpenRoute<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  route: Facts & {
    readonly query?: Q
    readonly body?: B
    readonly handle: Handle<undefined, z.output<Q>, z.output<B>>
  },
): Route {
  return { ...route, allow: 'everybody' }
}
