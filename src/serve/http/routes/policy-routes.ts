import {
  explainRequest,
  explanation,
  policySave,
  policyState,
  policyTestReport,
  policyTestRequest,
} from '../../api/policy.ts'
import { answerJson } from '../answer/answer-json.ts'
import { defineRoute, type Route } from '../route.ts'

/** The owner's rules. */
export const POLICY_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/policy',
    summary: 'The rules that hold',
    admits: ['read', 'admin'],
    answers: [{ description: 'The policy', schema: policyState }],
    handle: async ({ door }) => answerJson(await door.service.policy.state()),
  }),
  defineRoute({
    method: 'put',
    path: '/v1/policy',
    summary: "Saves the owner's rules and uses them at once",
    admits: ['admin'],
    body: policySave,
    answers: [{ description: 'The policy as it is now', schema: policyState }],
    handle: async ({ door, visitor, body }) =>
      answerJson(await door.service.policy.save({ ...body, by: visitor.name })),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/policy/explain',
    summary: 'What policy would say to a call of your own, and why',
    admits: ['call', 'read', 'admin'],
    body: explainRequest,
    answers: [{ description: 'The decision', schema: explanation }],
    handle: async ({ door, visitor, body }) => answerJson(await door.service.policy.explain(visitor, body)),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/policy/test',
    summary: 'Which recorded calls other rules would have decided otherwise',
    admits: ['read', 'admin'],
    body: policyTestRequest,
    answers: [{ description: 'The calls that would change', schema: policyTestReport }],
    handle: async ({ door, body }) => answerJson(await door.service.policy.test(body)),
  }),
]
