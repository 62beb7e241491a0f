import { createdToken, newToken, tokenList } from '../../api/service.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { defineRoute, type Route } from '../route.ts'

/** API tokens. */
export const TOKEN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/tokens',
    summary: 'API tokens, without their secrets',
    admits: ['admin'],
    answers: [{ description: 'Tokens, oldest first', schema: tokenList }],
    handle: async ({ door }) => answerJson({ tokens: await door.service.tokens.list() }),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/tokens',
    summary: 'Makes an API token; its secret is told once',
    admits: ['admin'],
    body: newToken,
    answers: [{ description: 'The token and its secret', schema: createdToken, status: 201 }],
    handle: async ({ door, body }) => answerJson(await door.service.tokens.create(body), { status: 201 }),
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/tokens/{id}',
    summary: 'Revokes an API token',
    admits: ['admin'],
    answers: [{ description: 'It opens nothing any more', status: 204 }],
    async handle({ door, params }) {
      if (await door.service.tokens.remove(params.get('id')!)) return answerNothing()
      throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such token.')
    },
  }),
]
