import type { IncomingMessage } from 'node:http'
import { ANSWER_PAGE_CSP, plainPage } from '../../approvals/answer-page.ts'
import type { AnswerPage, AnswerPages } from '../../approvals/answer-pages.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { PAGE_HEADERS } from '../answer/security-headers.ts'
import { RequestHeaders } from '../authenticate.ts'
import type { HttpContext } from '../http-context.ts'
import { readForm } from '../read-body.ts'
import { defineOpenRoute, type Route } from '../route.ts'

const HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': ANSWER_PAGE_CSP,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // With none at all the form would come from nowhere, and be refused for it.
  'referrer-policy': 'same-origin',
}

/** The pages behind the links of webhooks: who has the link may answer that one ask. */
export const ANSWER_ROUTES: readonly Route[] = [
  defineOpenRoute({
    method: 'get',
    path: '/answer/{link}',
    summary: 'The page behind a link of a webhook',
    answers: [{ description: 'What waits, and a form', mediaType: 'text/html' }],
    handle: async ({ door, params, request }) =>
      answerPage(door, request, await doorOf(door).show(params.get('link')!)),
  }),
  defineOpenRoute({
    method: 'post',
    path: '/answer/{link}',
    summary: 'Answers by the form of that page',
    answers: [{ description: 'What became of it', mediaType: 'text/html' }],
    async handle({ door, params, request }) {
      const form = await readForm(request, door.maxBodyBytes)
      return answerPage(door, request, await doorOf(door).answer(params.get('link')!, form))
    },
  }),
]

function doorOf({ answers }: HttpContext): AnswerPages {
  if (answers) return answers
  throw new HttpRefusal(404, 'NOT_FOUND', 'This service sends no links.')
}

/** Every link is looked up: whoever has a right one can answer, whatever others at the same address guessed. */
function answerPage({ authenticator }: HttpContext, request: IncomingMessage, { status, html }: AnswerPage): Response {
  const refused = status === 404 ? authenticator.wrongLink(new RequestHeaders(request)) : undefined
  if (refused) {
    const page = plainPage('Too many links that lead nowhere', refused.error.message)
    return new Response(page, { status: refused.status, headers: { ...HEADERS, ...refused.headers } })
  }
  return new Response(html, { status, headers: HEADERS })
}
