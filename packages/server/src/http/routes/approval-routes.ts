import type { IncomingMessage } from 'node:http'
import {
  approval,
  approvalAnswer,
  approvalList,
  approvalOutcome,
  approvalQuery,
  questionAnswer,
  questionEntry,
  questionList,
  questionOutcome,
} from '@tool-hub/core/protocol'
import type { AnswerPage, AnswerPages } from '../../approvals/answer-links.ts'
import { ANSWER_PAGE_CSP, plainPage } from '../../approvals/answer-page.ts'
import { answerJson, HttpRefusal, PAGE_HEADERS } from '../answers.ts'
import type { HttpContext } from '../http-context.ts'
import { RequestHeaders, readForm } from '../request.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

/** Pending approvals and questions, and their answers. A caller that may only call sees its own. */
export const APPROVAL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/approvals',
    client: {
      name: 'approvals.list',
      note: '`before` is for what comes after a page: when its last one was asked.',
      returns: 'approvals',
    },
    summary: 'Calls that wait for a yes',
    allow: ['approve', 'read', 'call'],
    query: approvalQuery,
    answers: [{ description: 'Approvals, newest first, long ones cut', schema: approvalList }],
    handle: async ({ context, caller, query }) => answerJson(await context.service.approvals.approvals(caller, query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/approvals/{id}',
    client: { name: 'approvals.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'One approval',
    allow: ['approve', 'read', 'call'],
    answers: [{ description: 'The approval', schema: approval }],
    handle: async ({ context, caller, param }) =>
      answerJson(await context.service.approvals.approval(caller, param('id'))),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/approvals/{id}',
    client: { name: 'approvals.answer', note: '`won` is false when somebody else was first.' },
    summary: 'Answers an approval; the first answer wins',
    allow: ['approve'],
    body: approvalAnswer,
    answers: [{ description: 'Whether this answer won, and the approval as it is now', schema: approvalOutcome }],
    async handle({ context, caller, identity, param, body }) {
      return answerJson(await context.service.approvals.answer(caller, param('id'), body, viaOf(identity)))
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/questions',
    client: { name: 'questions.list', returns: 'questions' },
    summary: 'What tools ask the person behind the agent',
    allow: ['approve', 'read', 'call'],
    query: approvalQuery,
    answers: [{ description: 'Questions, newest first, long ones cut', schema: questionList }],
    handle: async ({ context, caller, query }) => answerJson(await context.service.approvals.questions(caller, query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/questions/{id}',
    client: { name: 'questions.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'One question',
    allow: ['approve', 'read', 'call'],
    answers: [{ description: 'The question', schema: questionEntry }],
    handle: async ({ context, caller, param }) =>
      answerJson(await context.service.approvals.question(caller, param('id'))),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/questions/{id}',
    client: {
      name: 'questions.answer',
      note: '`answer` is a text, `values` those of a form; `won` is false when somebody else was first.',
    },
    summary: 'Answers a question; the first answer wins',
    allow: ['approve'],
    body: questionAnswer,
    answers: [{ description: 'Whether this answer won, and the question as it is now', schema: questionOutcome }],
    async handle({ context, caller, identity, param, body }) {
      return answerJson(await context.service.approvals.reply(caller, param('id'), body, viaOf(identity)))
    },
  }),
]

/** Only the console signs in with a cookie. */
function viaOf({ csrf }: { readonly csrf?: string }): string {
  return csrf === undefined ? 'http' : 'console'
}

const HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': ANSWER_PAGE_CSP,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // With `no-referrer` the form would have no origin and be refused.
  'referrer-policy': 'same-origin',
}

/** The pages behind webhook links: anybody with the link may answer that one request. */
export const ANSWER_ROUTES: readonly Route[] = [
  defineOpenRoute({
    method: 'get',
    path: '/answer/{link}',
    summary: 'The page behind a link of a webhook',
    answers: [{ description: 'What waits, and a form', mediaType: 'text/html' }],
    handle: async ({ context, param, request }) =>
      answerPage(context, request, await pagesOf(context).show(param('link'))),
  }),
  defineOpenRoute({
    method: 'post',
    path: '/answer/{link}',
    summary: 'Answers by the form of that page',
    answers: [{ description: 'What became of it', mediaType: 'text/html' }],
    async handle({ context, param, request }) {
      const form = await readForm(request, context.maxBodyBytes)
      return answerPage(context, request, await pagesOf(context).answer(param('link'), form))
    },
  }),
]

function pagesOf({ answers }: HttpContext): AnswerPages {
  if (answers) return answers
  throw new HttpRefusal(404, 'NOT_FOUND', 'This service sends no links.')
}

/** Every link is looked up, so a valid one works whatever others at the same address guessed. */
function answerPage({ authenticator }: HttpContext, request: IncomingMessage, { status, html }: AnswerPage): Response {
  const refused = status === 404 ? authenticator.wrongLink(new RequestHeaders(request)) : undefined
  if (refused) {
    const page = plainPage('Too many links that lead nowhere', refused.error.message)
    return new Response(page, { status: refused.status, headers: { ...HEADERS, ...refused.headers } })
  }
  return new Response(html, { status, headers: HEADERS })
}
