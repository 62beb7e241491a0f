import type { IncomingMessage } from 'node:http'
import { type FeatureRequest, type FeatureRoute, FileAnswer } from '@tool-hub/core'
import { featureRoutes } from '@tool-hub/library/generated/routes'
import { isOwnCall } from '@tool-hub/runtime/approvals'
import type { Caller } from '../../auth/caller.ts'
import { API_HEADERS, answerJson, answerNothing } from '../answers.ts'
import { answerFile } from '../console.ts'
import { defineOpenRoute, defineRoute, type Exchange, type Route } from '../route.ts'

/** Who sends a request to an open route. */
const NOBODY: Pick<Caller, 'name' | 'scopes' | 'rights'> = { name: 'nobody', scopes: new Set() }

/** The routes of features and of many machines. */
export const FEATURE_ROUTES: readonly Route[] = featureRoutes.flatMap(({ routes }) => routes.map(toRoute))

/** What the resources of the client are that features have. */
export const FEATURE_RESOURCES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...featureRoutes.map(({ resources }) => resources),
)

/** The entities of features that have a name in the OpenAPI document. */
export const FEATURE_SCHEMAS = Object.assign({}, ...featureRoutes.map(({ schemas }) => schemas)) as Readonly<
  (typeof featureRoutes)[number]['schemas']
>

function toRoute({ handle, run: runOf, isOpen = false, allow, ...route }: FeatureRoute): Route {
  const [{ status }] = route.answers
  const answer = async (exchange: Exchange<Caller | undefined, unknown, unknown>) => {
    const value = await handle(toRequest(exchange))
    if (value === undefined) return answerNothing()
    if (value instanceof FileAnswer) return answerServed(value, exchange.request)
    return value instanceof Response ? withApiHeaders(value) : answerJson(value, { status })
  }
  return isOpen
    ? defineOpenRoute({ ...route, isForProbes: true, handle: answer })
    : defineRoute({ ...route, allow, ...(runOf && { concerns: concernsRun(runOf) }), handle: answer })
}

function concernsRun(runOf: NonNullable<FeatureRoute['run']>): NonNullable<Route['concerns']> {
  return async (question) => {
    const run = await runOf(toRequest(question))
    return run === undefined ? undefined : { run }
  }
}

function toRequest(
  exchange: Pick<Exchange<Caller | undefined>, 'context' | 'caller' | 'param' | 'query' | 'body' | 'request'>,
): FeatureRequest {
  const { context, caller = NOBODY, param, query, body, request } = exchange
  const { service } = context
  const { name, scopes, rights } = caller
  return {
    hub: service.hub,
    store: service.store,
    caller: { name, scopes, rights, isBehind: (principal) => isOwnCall(principal, name) },
    param,
    query,
    body,
    host: request.headers.host,
  }
}

function answerServed({ file, headers }: FileAnswer, request: IncomingMessage): Response {
  const answer = answerFile(file, request.headers)
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value)
  return answer
}

function withApiHeaders(answer: Response): Response {
  for (const [name, value] of Object.entries(API_HEADERS))
    if (!answer.headers.has(name)) answer.headers.set(name, value)
  return answer
}
