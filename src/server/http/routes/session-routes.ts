import { me, signIn } from '../../../protocol/index.ts'
import type { Admission } from '../../auth/create-authenticator.ts'
import type { Caller, Service } from '../../service.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { RequestHeaders } from '../authenticate.ts'
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
      const signedIn = await door.authenticator.signIn(new RequestHeaders(request), body.token)
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
    admits: 'callers',
    answers: [{ description: 'The session is over', status: 204 }],
    handle: async ({ door, request }) => answerNothing(await door.authenticator.signOut(new RequestHeaders(request))),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/me',
    summary: 'Who asks, and who answers',
    admits: 'callers',
    answers: [{ description: 'The principal', schema: me }],
    handle: ({ door, admission }) => answerJson(toMe(door.service, admission)),
  }),
]

function toMe(
  { version, startedAt }: Service,
  { caller, csrf }: { readonly caller: Caller; readonly csrf?: Admission['csrf'] },
) {
  return {
    principal: { name: caller.name, scopes: [...caller.scopes] },
    server: { version, startedAt },
    ...(csrf !== undefined && { csrf }),
  }
}
