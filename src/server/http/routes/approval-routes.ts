import { z } from 'zod'
import {
  approval,
  approvalAnswer,
  approvalList,
  approvalOutcome,
  question,
  questionAnswer,
  questionList,
  questionOutcome,
} from '../../../protocol/index.ts'
import { answerJson } from '../answer/answer-json.ts'
import { defineRoute, type Route } from '../route.ts'

const approvalQuery = z.object({
  state: z.enum(['waiting', 'all']).default('waiting'),
  before: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** Pending approvals and questions, and their answers. A caller that may only call sees its own. */
export const APPROVAL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/approvals',
    summary: 'Calls that wait for a yes',
    admits: ['approve', 'read', 'call'],
    query: approvalQuery,
    answers: [{ description: 'Approvals, newest first, long ones cut', schema: approvalList }],
    handle: async ({ door, caller, query }) => answerJson(await door.service.approvals.approvals(caller, query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/approvals/{id}',
    summary: 'One approval',
    admits: ['approve', 'read', 'call'],
    answers: [{ description: 'The approval', schema: approval }],
    handle: async ({ door, caller, params }) =>
      answerJson(await door.service.approvals.approval(caller, params.get('id')!)),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/approvals/{id}',
    summary: 'Answers an approval; the first answer wins',
    admits: ['approve'],
    body: approvalAnswer,
    answers: [{ description: 'Whether this answer won, and the approval as it is now', schema: approvalOutcome }],
    async handle({ door, caller, admission, params, body }) {
      return answerJson(await door.service.approvals.answer(caller, params.get('id')!, body, viaOf(admission)))
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/questions',
    summary: 'What tools ask the person behind the agent',
    admits: ['approve', 'read', 'call'],
    query: approvalQuery,
    answers: [{ description: 'Questions, newest first, long ones cut', schema: questionList }],
    handle: async ({ door, caller, query }) => answerJson(await door.service.approvals.questions(caller, query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/questions/{id}',
    summary: 'One question',
    admits: ['approve', 'read', 'call'],
    answers: [{ description: 'The question', schema: question }],
    handle: async ({ door, caller, params }) =>
      answerJson(await door.service.approvals.question(caller, params.get('id')!)),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/questions/{id}',
    summary: 'Answers a question; the first answer wins',
    admits: ['approve'],
    body: questionAnswer,
    answers: [{ description: 'Whether this answer won, and the question as it is now', schema: questionOutcome }],
    async handle({ door, caller, admission, params, body }) {
      return answerJson(await door.service.approvals.reply(caller, params.get('id')!, body, viaOf(admission)))
    },
  }),
]

/** Only the console signs in with a cookie. */
function viaOf({ csrf }: { readonly csrf?: string }): string {
  return csrf === undefined ? 'http' : 'console'
}
