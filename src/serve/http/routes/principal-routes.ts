import { principalList } from '../../api/principals.ts'
import { answerJson } from '../answer/answer-json.ts'
import { defineRoute, type Route } from '../route.ts'

/** Who uses the hub. */
export const PRINCIPAL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/principals',
    summary: 'Who uses the hub, with their rights, budgets and runs; the one seen last first',
    admits: ['read'],
    answers: [{ description: 'Principals, without secrets', schema: principalList }],
    handle: async ({ door }) => answerJson({ principals: await door.service.principals() }),
  }),
]
