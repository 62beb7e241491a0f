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
    async handle({ door: { service }, visitor, body }) {
      const created = await service.tokens.create(body)
      await service.hub.recordChange({ by: visitor.name, change: 'token-created', subject: created.token.name })
      return answerJson(created, { status: 201 })
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/tokens/{id}',
    summary: 'Revokes an API token',
    admits: ['admin'],
    answers: [{ description: 'It opens nothing any more', status: 204 }],
    async handle({ door: { service }, visitor, params }) {
      const id = params.get('id')!
      if (!(await service.tokens.remove(id))) throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such token.')
      await service.hub.recordChange({ by: visitor.name, change: 'token-revoked', subject: id })
      return answerNothing()
    },
  }),
]
