import { grantList } from '../../api/service.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { defineRoute, type Route } from '../route.ts'

/** Answers that hold for later calls. */
export const GRANT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/grants',
    summary: 'Remembered answers',
    admits: ['read'],
    answers: [{ description: 'Grants, oldest first', schema: grantList }],
    async handle({ door }) {
      const grants = await door.service.hub.grants.list()
      return answerJson({ grants: grants.map(({ hash: _, ...shown }) => shown) })
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/grants/{id}',
    summary: 'Forgets a remembered answer',
    admits: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ door, visitor, params }) {
      const { hub } = door.service
      const id = params.get('id')!
      if (!(await hub.grants.revoke(id))) throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such grant.')
      await hub.recordChange({ by: visitor.name, change: 'grant-revoked', subject: id })
      return answerNothing()
    },
  }),
]
