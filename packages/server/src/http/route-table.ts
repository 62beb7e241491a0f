import { messageOf, ToolError } from '@tool-hub/core'
import { parseDuration } from '@tool-hub/core/config'
import {
  createdToken,
  explainRequest,
  explanation,
  grantList,
  newToken,
  policySave,
  policyState,
  policySuggestions,
  policyTestReport,
  policyTestRequest,
  principalList,
  shadowState,
  suggestionQuery,
  tokenList,
  tokenOverlap,
  toolList,
  toolQuery,
} from '@tool-hub/core/protocol'
import { z } from 'zod'
import { answerJson, answerNothing, HttpRefusal } from './answers.ts'
import { socketSignal } from './request.ts'
import { defineRoute, type Route } from './route.ts'
import { ANSWER_ROUTES, APPROVAL_ROUTES } from './routes/approval-routes.ts'
import { ARTIFACT_ROUTES } from './routes/artifact-routes.ts'
import { CALL_ROUTES } from './routes/call-routes.ts'
import { EVENT_ROUTES } from './routes/event-routes.ts'
import { FEATURE_RESOURCES, FEATURE_ROUTES } from './routes/feature-routes.ts'
import { listForms } from './routes/list-forms.ts'
import { MCP_ROUTES } from './routes/mcp-routes.ts'
import { RUN_ROUTES } from './routes/run-routes.ts'
import { SERVICE_ROUTES, SESSION_ROUTES } from './routes/service-routes.ts'

/** The owner's rules. */
const POLICY_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/policy',
    client: { name: 'policy.get', note: 'Its version is what `save` needs.' },
    summary: 'The rules that hold',
    allow: ['read', 'admin'],
    answers: [{ description: 'The policy', schema: policyState }],
    handle: async ({ context }) => answerJson(await context.service.policy.state()),
  }),
  defineRoute({
    method: 'put',
    path: '/v1/policy',
    client: { name: 'policy.save', note: 'Rejects with `CONFLICT` if the rules have another version by now.' },
    summary: "Saves the owner's rules and applies them immediately",
    allow: ['admin'],
    body: policySave,
    answers: [{ description: 'The policy as it is now', schema: policyState }],
    handle: async ({ context, caller, body }) =>
      answerJson(await context.service.policy.save({ ...body, by: caller.name })),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/policy/explain',
    client: 'policy.explain',
    summary: 'What policy would say to a call of your own, and why',
    allow: ['call', 'read', 'admin'],
    body: explainRequest,
    concerns: ({ body: { run } }) => (run === undefined ? undefined : { run }),
    answers: [{ description: 'The decision', schema: explanation }],
    handle: async ({ context, caller, body }) => answerJson(await context.service.policy.explain(caller, body)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/policy/shadow',
    client: { name: 'policy.shadow', note: 'Returns `undefined` without a shadow policy.', returns: 'report' },
    summary: 'Where the shadow policy differs from the policy in force',
    allow: ['read', 'admin'],
    answers: [{ description: 'The differences', schema: shadowState }],
    handle: ({ context }) => answerJson({ report: context.service.policy.shadow() }),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/policy/test',
    client: 'policy.test',
    summary: 'Which recorded calls other rules would have decided otherwise',
    allow: ['read', 'admin'],
    body: policyTestRequest,
    answers: [{ description: 'The calls that would change', schema: policyTestReport }],
    handle: async ({ context, body }) => answerJson(await context.service.policy.test(body)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/policy/suggestions',
    client: {
      name: 'policy.suggest',
      note: 'With `since`, such as `7d`, only approvals of that time count. Rejects with `RATE_LIMITED` while the records are read for others.',
    },
    summary:
      'Rules that would have covered the calls that people approved; reads all records, for one caller at a time',
    allow: ['read', 'admin'],
    query: suggestionQuery,
    answers: [{ description: 'The rules, and what they were compared with', schema: policySuggestions }],
    async handle({ context, query: { since }, request }) {
      const lastMs = since === undefined ? undefined : readSince(since)
      const signal = socketSignal(request.socket)
      return answerJson(await context.service.policy.suggest({ lastMs, signal }))
    },
  }),
]

function readSince(since: string): number {
  try {
    return parseDuration(since)
  } catch (cause) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `since: ${messageOf(cause)}`, { cause })
  }
}

/** API tokens. */
const TOKEN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/tokens',
    client: { name: 'tokens.list', returns: 'tokens' },
    summary: 'API tokens, without their secrets',
    allow: ['admin'],
    answers: [{ description: 'Tokens, oldest first', schema: tokenList }],
    handle: async ({ context }) => answerJson({ tokens: await context.service.tokens.list() }),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/tokens',
    client: 'tokens.create',
    summary: 'Creates an API token; its secret is shown once',
    allow: ['admin'],
    body: newToken,
    answers: [{ description: 'The token and its secret', schema: createdToken, status: 201 }],
    async handle({ context: { service }, caller, body }) {
      const created = await service.tokens.create(body)
      await service.hub.recordChange({ by: caller.name, change: 'token-created', subject: created.token.name })
      return answerJson(created, { status: 201 })
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/tokens/{id}/rotate',
    client: {
      name: 'tokens.rotate',
      note: 'Default of `overlapMs`: 24 hours. Rejects with `CONFLICT` while the secret before that one is still valid, unless `overlapMs` is 0.',
    },
    summary: 'Gives an API token a new secret, shown once; the current one stays valid for the overlap',
    allow: ['admin'],
    body: tokenOverlap,
    answers: [{ description: 'The token and its new secret', schema: createdToken }],
    async handle({ context: { service }, caller, param, body }) {
      const rotated = await service.tokens.rotate(param('id'), body)
      if (!rotated) throw new HttpRefusal(404, 'NOT_FOUND', 'Token not found.')
      await service.hub.recordChange({ by: caller.name, change: 'token-rotated', subject: rotated.token.name })
      return answerJson(rotated)
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/tokens/{id}',
    client: 'tokens.revoke',
    summary: 'Revokes an API token',
    allow: ['admin'],
    answers: [{ description: 'It opens nothing any more', status: 204 }],
    async handle({ context: { service }, caller, param }) {
      const id = param('id')
      if (!(await service.tokens.remove(id))) throw new HttpRefusal(404, 'NOT_FOUND', 'Token not found.')
      await service.hub.recordChange({ by: caller.name, change: 'token-revoked', subject: id })
      return answerNothing()
    },
  }),
]

/** Remembered answers. */
const GRANT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/grants',
    client: { name: 'grants.list', returns: 'grants' },
    summary: 'Remembered answers',
    allow: ['read'],
    answers: [{ description: 'Grants, oldest first', schema: grantList }],
    async handle({ context }) {
      const grants = await context.service.hub.grants.list()
      return answerJson({ grants: grants.map(({ hash: _, ...shown }) => shown) })
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/grants/{id}',
    client: 'grants.revoke',
    summary: 'Forgets a remembered answer',
    allow: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ context, caller, param }) {
      const { hub } = context.service
      const id = param('id')
      if (!(await hub.grants.revoke(id))) throw new HttpRefusal(404, 'NOT_FOUND', 'Grant not found.')
      await hub.recordChange({ by: caller.name, change: 'grant-revoked', subject: id })
      return answerNothing()
    },
  }),
]

// The text `false` means false.
const query = toolQuery.extend({ hidden: z.stringbool().optional() })

const providerList = z.object({ tools: z.array(z.record(z.string(), z.unknown())) })

/** The tools that the caller sees. */
const TOOL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/tools',
    summary: 'The tools that you see, in the form of the hub or of a provider',
    allow: ['call', 'read'],
    query,
    answers: [{ description: 'The tools', schema: z.union([toolList, providerList]) }],
    handle: async ({ context, caller, query }) =>
      answerJson({ tools: await listForms(context.service.hub, caller.hub, query) }),
  }),
]

/** Who uses the hub. */
const PRINCIPAL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/principals',
    client: { name: 'principals.list', returns: 'principals' },
    summary: 'Who uses the hub, with their rights, budgets and runs; the one seen last first',
    allow: ['read'],
    answers: [{ description: 'Principals, without secrets', schema: principalList }],
    handle: async ({ context }) => answerJson({ principals: await context.service.principals() }),
  }),
]

/** What the resources of the client are. */
export const CLIENT_RESOURCES: Readonly<Record<string, string>> = {
  calls: 'Calls that are on record.',
  runs: 'Runs: their records, changed files and undo.',
  approvals: 'Approval requests, and how to answer them; answering needs the scope `approve`.',
  questions: 'Questions of tools, and how to answer them; answering needs the scope `approve`.',
  grants: 'Answers that are remembered.',
  policy: "The owner's rules: read, explain, test, save.",
  principals: 'Who uses the hub, with their rights, budgets and runs.',
  tokens: 'API tokens; needs the scope `admin`.',
  audit: 'Checks of the records.',
  ...FEATURE_RESOURCES,
}

/** All routes, for the application and the OpenAPI document. */
export const ROUTES: readonly Route[] = [
  ...CALL_ROUTES,
  ...TOOL_ROUTES,
  ...RUN_ROUTES,
  ...ARTIFACT_ROUTES,
  ...APPROVAL_ROUTES,
  ...ANSWER_ROUTES,
  ...GRANT_ROUTES,
  ...POLICY_ROUTES,
  ...PRINCIPAL_ROUTES,
  ...FEATURE_ROUTES,
  ...EVENT_ROUTES,
  ...TOKEN_ROUTES,
  ...SESSION_ROUTES,
  ...SERVICE_ROUTES,
  ...MCP_ROUTES,
]
