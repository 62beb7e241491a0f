import { me, signIn } from '../../../protocol/index.ts'
import type { Identity } from '../../auth/authenticator.ts'
import type { Caller, Service } from '../../service.ts'
import { answerJson, answerNothing, HttpRefusal } from '../answers.ts'
import { RequestHeaders } from '../request.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

/** Signing in and out, and who one is. */
export const SESSION_ROUTES: readonly Route[] = [
  defineOpenRoute({
    method: 'post',
    path: '/v1/sessions',
    summary: 'Signs in: a cookie for a token',
    body: signIn,
    answers: [{ description: 'Who signed in; the cookie is in Set-Cookie', schema: me, status: 201 }],
    async handle({ context, body, request }) {
      const signedIn = await context.authenticator.signIn(new RequestHeaders(request), body.token)
      if (!signedIn.ok) throw HttpRefusal.from(signedIn)
      const response = answerJson(toMe(context.service, signedIn), { status: 201 })
      for (const [name, value] of Object.entries(signedIn.headers)) response.headers.set(name, value)
      return response
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/sessions',
    summary: 'Signs out',
    allow: 'callers',
    answers: [{ description: 'The session is over', status: 204 }],
    handle: async ({ context, request }) =>
      answerNothing(await context.authenticator.signOut(new RequestHeaders(request))),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/me',
    summary: 'Who asks, and who answers',
    allow: 'callers',
    answers: [{ description: 'The principal', schema: me }],
    handle: ({ context, identity }) => answerJson(toMe(context.service, identity)),
  }),
]

function toMe(
  { version, startedAt }: Service,
  { caller, csrf }: { readonly caller: Caller; readonly csrf?: Identity['csrf'] },
) {
  return {
    principal: { name: caller.name, scopes: [...caller.scopes] },
    server: { version, startedAt },
    ...(csrf !== undefined && { csrf }),
  }
}
