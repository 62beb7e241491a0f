import { z } from 'zod'
import { auditReport, health } from '../../../protocol/index.ts'
import { API_HEADERS, answerJson } from '../answers.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

const auditQuery = z.object({ run: z.string().max(128).optional(), only: z.literal('missing').optional() })
const state = z.object({ ok: z.boolean() })
const notReady = state.extend({ part: z.enum(['descriptors', 'store', 'records', 'tools']), problem: z.string() })

/** Health, metrics and the OpenAPI document. */
export const SERVICE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/audit/verify',
    summary: 'Checks the records of one run, or of all; with only=missing, looks for runs that are gone',
    allow: ['read'],
    query: auditQuery,
    answers: [{ description: 'What was found', schema: auditReport }],
    handle: async ({ context, query }) => answerJson(await context.service.history.verify(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/health',
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
      const problem = await context.readiness.problem()
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
