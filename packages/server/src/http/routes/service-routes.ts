import { auditQuery, auditReport, health, me, signIn } from '@tool-hub/core/protocol'
import { z } from 'zod'
import type { Identity } from '../../auth/authenticator.ts'
import type { Caller } from '../../auth/caller.ts'
import type { Service } from '../../service.ts'
import { API_HEADERS, answerJson, answerNothing, refusalFrom } from '../answers.ts'
import { RequestHeaders } from '../request.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

const state = z.object({ ok: z.boolean() })
const notReady = state.extend({
  part: z.enum(['draining', 'descriptors', 'store', 'records', 'tools']),
  problem: z.string(),
})

const DRAINING = { part: 'draining', problem: 'The service is about to end.' } as const

/** The entities of these routes that have a name in the OpenAPI document. */
export const SERVICE_SCHEMAS = { Health: health, Me: me } as const

/** Health, metrics and the OpenAPI document. */
export const SERVICE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/audit/verify',
    client: 'audit.verify',
    summary: 'Checks the records of one run, or of all; with only=missing, looks for runs that are gone',
    allow: ['read'],
    query: auditQuery,
    concerns: ({ query: { run } }) => (run === undefined ? undefined : { run }),
    answers: [{ description: 'What was found', schema: auditReport }],
    handle: async ({ context, query }) => answerJson(await context.service.history.verify(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/health',
    client: 'health',
    summary: 'How the service does',
    allow: ['read'],
    answers: [{ description: 'Rates, failures, budgets, sandbox, servers', schema: health }],
    handle: async ({ context }) => answerJson(await context.service.health()),
  }),
  defineRoute({
    method: 'get',
    path: '/metrics',
    summary: 'Counters and histograms',
    allow: ['read'],
    answers: [{ description: 'As Prometheus reads them', mediaType: 'text/plain' }],
    async handle({ context }) {
      const headers = { ...API_HEADERS, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
      return new Response(await context.service.metrics(), { headers })
    },
  }),
  defineOpenRoute({
    method: 'get',
    path: '/healthz',
    summary: 'Whether the process answers',
    isForProbes: true,
    answers: [{ description: 'It does', schema: state }],
    handle: () => answerJson({ ok: true }),
  }),
  defineOpenRoute({
    method: 'get',
    path: '/readyz',
    summary: 'Whether the service can take calls',
    isForProbes: true,
    answers: [
      { description: 'It can', schema: state },
      { description: 'It cannot, and why', schema: notReady, status: 503 },
    ],
    async handle({ context }) {
      const problem = context.isDraining ? DRAINING : await context.readiness.problem()
      return problem ? answerJson({ ok: false, ...problem }, { status: 503 }) : answerJson({ ok: true })
    },
  }),
  defineOpenRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'This document',
    answers: [{ description: 'OpenAPI 3.1' }],
    handle: async ({ context }) =>
      new Response(context.document(), { headers: { ...API_HEADERS, 'content-type': 'application/json' } }),
  }),
]

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
      if (!signedIn.ok) throw refusalFrom(signedIn)
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
    client: 'me',
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
    csrf,
  }
}
