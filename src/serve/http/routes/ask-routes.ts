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
} from '../../api/asks.ts'
import { answerJson } from '../answer/answer-json.ts'
import { defineRoute, type Route } from '../route.ts'

const askQuery = z.object({
  state: z.enum(['waiting', 'all']).default('waiting'),
  before: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** What waits for people, and their answers. Whoever only calls sees what its own calls wait for. */
export const ASK_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/approvals',
    summary: 'Calls that wait for a yes',
    admits: ['approve', 'read', 'call'],
    query: askQuery,
    answers: [{ description: 'Approvals, newest first, long ones cut', schema: approvalList }],
    handle: async ({ door, visitor, query }) => answerJson(await door.service.asks.approvals(visitor, query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/approvals/{id}',
    summary: 'One approval',
    admits: ['approve', 'read', 'call'],
    answers: [{ description: 'The approval', schema: approval }],
    handle: async ({ door, visitor, params }) =>
      answerJson(await door.service.asks.approval(visitor, params.get('id')!)),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/approvals/{id}',
    summary: 'Answers an approval; the first answer wins',
    admits: ['approve'],
    body: approvalAnswer,
    answers: [{ description: 'Whether this answer won, and the approval as it is now', schema: approvalOutcome }],
    async handle({ door, visitor, admission, params, body }) {
      return answerJson(await door.service.asks.answer(visitor, params.get('id')!, body, viaOf(admission)))
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/questions',
    summary: 'What tools ask the person behind the agent',
    admits: ['approve', 'read', 'call'],
    query: askQuery,
    answers: [{ description: 'Questions, newest first, long ones cut', schema: questionList }],
    handle: async ({ door, visitor, query }) => answerJson(await door.service.asks.questions(visitor, query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/questions/{id}',
    summary: 'One question',
    admits: ['approve', 'read', 'call'],
    answers: [{ description: 'The question', schema: question }],
    handle: async ({ door, visitor, params }) =>
      answerJson(await door.service.asks.question(visitor, params.get('id')!)),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/questions/{id}',
    summary: 'Answers a question; the first answer wins',
    admits: ['approve'],
    body: questionAnswer,
    answers: [{ description: 'Whether this answer won, and the question as it is now', schema: questionOutcome }],
    async handle({ door, visitor, admission, params, body }) {
      return answerJson(await door.service.asks.reply(visitor, params.get('id')!, body, viaOf(admission)))
    },
  }),
]

/** Whoever has a cookie sits before the console. */
function viaOf({ csrf }: { readonly csrf?: string }): string {
  return csrf === undefined ? 'http' : 'console'
}
