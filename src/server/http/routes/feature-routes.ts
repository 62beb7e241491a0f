import { isOwnCall } from '../../../approvals/index.ts'
import type { FeatureRequest, FeatureRoute } from '../../../core/index.ts'
import { featureRoutes } from '../../../features/generated/routes/index.ts'
import type { Caller } from '../../service.ts'
import { API_HEADERS, answerJson, answerNothing } from '../answers.ts'
import { defineRoute, type Exchange, type Route } from '../route.ts'

/** The routes of features. */
export const FEATURE_ROUTES: readonly Route[] = featureRoutes.flatMap(({ routes }) => routes.map(toRoute))

/** The entities of features that have a name in the OpenAPI document. */
export const FEATURE_SCHEMAS = Object.assign({}, ...featureRoutes.map(({ schemas }) => schemas)) as Readonly<
  (typeof featureRoutes)[number]['schemas']
>

function toRoute({ handle, ...route }: FeatureRoute): Route {
  const [{ status }] = route.answers
  return defineRoute({
    ...route,
    async handle(exchange: Exchange<Caller, unknown, unknown>) {
      const answer = await handle(toRequest(exchange))
      if (answer === undefined) return answerNothing()
      return answer instanceof Response ? withApiHeaders(answer) : answerJson(answer, { status })
    },
  })
}

function toRequest({
  context: { service },
  caller,
  params,
  query,
  body,
}: Exchange<Caller, unknown, unknown>): FeatureRequest {
  const { name, scopes, rights } = caller
  return {
    hub: service.hub,
    store: service.store,
    caller: { name, scopes, rights, isBehind: (principal) => isOwnCall(principal, name) },
    param: (key) => params.get(key) ?? '',
    query,
    body,
  }
}

function withApiHeaders(answer: Response): Response {
  for (const [name, value] of Object.entries(API_HEADERS))
    if (!answer.headers.has(name)) answer.headers.set(name, value)
  return answer
}
