import { me, signIn } from '../../api/service.ts'
import type { Admission } from '../../auth/create-doorkeeper.ts'
import type { Service, Visitor } from '../../service.ts'
import { DoorView } from '../admit.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

/** Signing in and out, and who one is. */
export const SESSION_ROUTES: readonly Route[] = [
  defineOpenRoute({
    method: 'post',
    path: '/v1/sessions',
    summary: 'Signs in: a cookie for a token',
    body: signIn,
    answers: [{ description: 'Who signed in; the cookie is in Set-Cookie', schema: me, status: 201 }],
    async handle({ door, body, request }) {
      const signedIn = await door.doorkeeper.signIn(new DoorView(request), body.token)
      if (!signedIn.ok) throw HttpRefusal.from(signedIn)
      const response = answerJson(toMe(door.service, signedIn), { status: 201 })
      for (const [name, value] of Object.entries(signedIn.headers)) response.headers.set(name, value)
      return response
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/sessions',
    summary: 'Signs out',
    admits: 'visitors',
    answers: [{ description: 'The session is over', status: 204 }],
    handle: async ({ door, request }) => answerNothing(await door.doorkeeper.signOut(new DoorView(request))),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/me',
    summary: 'Who asks, and who answers',
    admits: 'visitors',
    answers: [{ description: 'The principal', schema: me }],
    handle: ({ door, admission }) => answerJson(toMe(door.service, admission)),
  }),
]

function toMe(
  { version, startedAt }: Service,
  { visitor, csrf }: { readonly visitor: Visitor; readonly csrf?: Admission['csrf'] },
) {
  return {
    principal: { name: visitor.name, scopes: [...visitor.scopes] },
    server: { version, startedAt },
    ...(csrf !== undefined && { csrf }),
  }
}
