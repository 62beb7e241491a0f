import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { Concern } from '../../call-router.ts'
import { authenticatedClient, CONVERSATION, CONVERSATION_META_KEY, conversationRun } from '../../mcp/conversation.ts'
import { API_HEADERS, answerJson, HttpRefusal } from '../answers.ts'
import { METADATA_PATHS } from '../mcp-endpoints.ts'
import { defineOpenRoute, defineRoute, type Exchange, type Route, type RouteRequest } from '../route.ts'

/** MCP, with the rights of the caller. */
const MCP_ENDPOINT: readonly Route[] = (['post', 'get', 'delete'] as const).map((method) =>
  defineRoute({
    method,
    path: '/mcp',
    summary: 'MCP over streamable HTTP',
    allow: ['call'],
    isHidden: true,
    isResource: true,
    answers: [{ description: 'As the Model Context Protocol says' }],
    concerns: mcpConcern,
    handle: serveMcp,
  }),
)

/** Open, because clients read it before they have a token. */
const METADATA: readonly Route[] = METADATA_PATHS.map((path) =>
  defineOpenRoute({
    method: 'get',
    path,
    summary: 'Where to sign in for /mcp (RFC 9728)',
    answers: [{ description: 'Metadata of the protected resource' }],
    handle({ context }) {
      if (context.resource) return answerJson(context.resource.metadata())
      throw new HttpRefusal(
        404,
        'NOT_FOUND',
        'No identity provider is configured here; /mcp takes tokens of tool-hub.',
        {
          hint: 'Make a token with tool-hub tokens add, or set service.oidc.',
        },
      )
    },
  }),
)

/** MCP and its protected resource metadata. */
export const MCP_ROUTES: readonly Route[] = [...MCP_ENDPOINT, ...METADATA]

async function serveMcp({ context, caller, webRequest, response }: Exchange): Promise<Response> {
  const answer = await context.mcp.serve(caller, webRequest(), response)
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(API_HEADERS)) headers.set(name, value)
  return new Response(answer.body, { status: answer.status, headers })
}

/** What a request of MCP may refer to that one process has: without one of these, its body is not parsed. */
const REFERENCES = ['"taskId"', '"requestState"', '"artifact://', JSON.stringify(CONVERSATION_META_KEY)].map((text) =>
  Buffer.from(text),
)
const ARTIFACT_RUN = /^artifact:\/\/([A-Za-z0-9._-]{1,64})\//

const reference = z.object({
  params: z.object({
    taskId: z.string().optional().catch(undefined),
    requestState: z.string().optional().catch(undefined),
    uri: z.string().optional().catch(undefined),
    _meta: z
      .object({ [CONVERSATION_META_KEY]: z.string().regex(CONVERSATION) })
      .optional()
      .catch(undefined),
  }),
})

/**
 * What a request to `/mcp` concerns: a session of the legacy era, or in the modern era a task, a round, an artifact or a
 * conversation.
 */
async function mcpConcern({ caller, request, bytes }: RouteRequest): Promise<Concern | undefined> {
  const session = request.headers['mcp-session-id']
  if (typeof session === 'string') return { id: session }
  if (request.method !== 'POST') return undefined
  const body = await bytes()
  if (!REFERENCES.some((text) => body.includes(text))) return undefined
  const { taskId, requestState, uri = '', _meta } = reference.safeParse(parseJson(body.toString())).data?.params ?? {}
  const id = taskId ?? requestState
  const name = _meta?.[CONVERSATION_META_KEY]
  const named = name === undefined ? undefined : conversationRun(authenticatedClient([caller!.name]), name)
  const run = ARTIFACT_RUN.exec(uri)?.[1] ?? named
  return id !== undefined ? { id } : run === undefined ? undefined : { run }
}
