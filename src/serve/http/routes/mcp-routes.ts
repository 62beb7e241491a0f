import { API_HEADERS } from '../answer/security-headers.ts'
import { defineRoute, type Exchange, type Route } from '../route.ts'

/** The tools over MCP, for the hub as the visitor may use it. */
export const MCP_ROUTES: readonly Route[] = (['post', 'get', 'delete'] as const).map((method) =>
  defineRoute({
    method,
    path: '/mcp',
    summary: 'MCP over streamable HTTP',
    admits: ['call'],
    isHidden: true,
    answers: [{ description: 'As the Model Context Protocol says' }],
    handle: serveMcp,
  }),
)

async function serveMcp({ door, visitor, webRequest, response }: Exchange): Promise<Response> {
  const answer = await door.mcp.serve(visitor, webRequest, response)
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(API_HEADERS)) headers.set(name, value)
  return new Response(answer.body, { status: answer.status, headers })
}
