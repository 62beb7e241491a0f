import { answerJson } from '../answer/answer-json.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { API_HEADERS } from '../answer/security-headers.ts'
import { METADATA_PATHS } from '../protected-resource.ts'
import { defineOpenRoute, defineRoute, type Exchange, type Route } from '../route.ts'

/** The tools over MCP, for the hub as the visitor may use it. */
const DOORS: readonly Route[] = (['post', 'get', 'delete'] as const).map((method) =>
  defineRoute({
    method,
    path: '/mcp',
    summary: 'MCP over streamable HTTP',
    admits: ['call'],
    isHidden: true,
    isResource: true,
    answers: [{ description: 'As the Model Context Protocol says' }],
    handle: serveMcp,
  }),
)

/** Everybody may read it: a client does so before it has a token. */
const METADATA: readonly Route[] = METADATA_PATHS.map((path) =>
  defineOpenRoute({
    method: 'get',
    path,
    summary: 'Where to sign in for /mcp (RFC 9728)',
    answers: [{ description: 'Metadata of the protected resource' }],
    handle({ door }) {
      if (door.resource) return answerJson(door.resource.metadata())
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

/** MCP, and where its clients find out how to sign in. */
export const MCP_ROUTES: readonly Route[] = [...DOORS, ...METADATA]

async function serveMcp({ door, visitor, webRequest, response }: Exchange): Promise<Response> {
  const answer = await door.mcp.serve(visitor, webRequest, response)
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(API_HEADERS)) headers.set(name, value)
  return new Response(answer.body, { status: answer.status, headers })
}
