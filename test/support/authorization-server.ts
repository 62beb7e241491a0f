import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly params: URLSearchParams
}

/** What a test can change about the server. */
export interface Behaviour {
  /** Further fields of what the authorization server says about itself; undefined removes one. */
  metadata: Record<string, unknown>
  /** Of what the resource says about itself. */
  resource: Record<string, unknown>
  /** The challenge of the resource to a request without a token. */
  challengeScope: string | undefined
  /** What a call must have been granted. */
  neededScope: string | undefined
  /** Changes the answer that the browser is sent back with. */
  answer: (params: URLSearchParams) => void
  /** Answers a renewal with this status and error instead. */
  refusesRenewal: { readonly status: number; readonly error: string } | undefined
}

/**
 * An authorization server and an MCP server that wants its tokens, both on one loopback port. It checks what it should:
 * PKCE, the way back, the client, the resource, and that a refresh token is used once.
 */
export async function startAuthorizationServer() {
  const codes = new Map<string, URLSearchParams>()
  const clients = new Map<string, { redirect_uris: string[]; client_secret?: string }>()
  const access = new Map<string, string>()
  const refresh = new Map<string, string>()
  const asked: Asked[] = []
  const behaviour: Behaviour = {
    metadata: {},
    resource: {},
    challengeScope: undefined,
    neededScope: undefined,
    answer: () => {},
    refusesRenewal: undefined,
  }
  const server = createServer((request, response) => void serve(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${origin}/mcp`

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, origin)
    const body = await textOf(request)
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
    const params = isForm ? new URLSearchParams(body) : searchParams
    asked.push({ method: request.method!, path: pathname, headers: request.headers, params })
    const json = (status: number, value: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    const fail = (error: string, status = 400) => json(status, { error })

    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      return void json(200, { resource: url, authorization_servers: [origin], ...behaviour.resource })
    }
    if (pathname === '/.well-known/oauth-authorization-server') {
      return void json(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...behaviour.metadata,
      })
    }
    if (pathname === '/register') {
      const client = { client_id: random(), ...(JSON.parse(body) as { redirect_uris: string[] }) }
      clients.set(client.client_id, client)
      return void json(201, client)
    }
    if (pathname === '/authorize') {
      const code = random()
      codes.set(code, params)
      const back = new URL(params.get('redirect_uri')!)
      const answer = new URLSearchParams({ code, state: params.get('state') ?? '', iss: origin })
      behaviour.answer(answer)
      back.search = answer.toString()
      return void response.writeHead(302, { location: back.href }).end()
    }
    if (pathname === '/token') return void grant(request, params, json, fail)
    if (pathname === '/mcp') return void resource(request, response, body, json)
    fail('not_found', 404)
  }

  function grant(
    { headers }: IncomingMessage,
    params: URLSearchParams,
    json: (status: number, value: unknown) => void,
    fail: (error: string, status?: number) => void,
  ): unknown {
    const basic = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString()
    const [id, secret] = headers.authorization ? basic.split(':') : [params.get('client_id')]
    const client = clients.get(id ?? '')
    if (!client || client.client_secret !== secret) return fail('invalid_client', 401)
    if (params.get('resource') !== url) return fail('invalid_target')
    if (params.get('grant_type') === 'refresh_token') {
      const { refusesRenewal } = behaviour
      if (refusesRenewal) return fail(refusesRenewal.error, refusesRenewal.status)
      const scope = refresh.get(params.get('refresh_token')!)
      if (scope === undefined) return fail('invalid_grant')
      refresh.delete(params.get('refresh_token')!)
      return json(200, issue(scope))
    }
    const begun = codes.get(params.get('code')!)
    codes.delete(params.get('code')!)
    const challenge = createHash('sha256').update(params.get('code_verifier')!).digest('base64url')
    const isSame =
      begun?.get('code_challenge') === challenge &&
      begun.get('code_challenge_method') === 'S256' &&
      begun.get('redirect_uri') === params.get('redirect_uri') &&
      client.redirect_uris.includes(params.get('redirect_uri')!) &&
      begun.get('client_id') === id &&
      begun.get('resource') === url
    if (!isSame) return fail('invalid_grant')
    return json(200, issue(begun.get('scope') ?? ''))
  }

  function issue(scope: string) {
    const tokens = { access_token: random(), refresh_token: random() }
    access.set(tokens.access_token, scope)
    refresh.set(tokens.refresh_token, scope)
    return { ...tokens, token_type: 'Bearer', expires_in: 3600, scope }
  }

  function resource(
    { method, headers }: IncomingMessage,
    response: ServerResponse,
    body: string,
    json: (status: number, value: unknown, headers?: object) => void,
  ): unknown {
    const scope = access.get(headers.authorization?.replace('Bearer ', '') ?? '')
    const place = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
    const challenge = (fields: string) => ({ 'www-authenticate': `Bearer ${place}${fields}` })
    const { challengeScope, neededScope } = behaviour
    if (scope === undefined) {
      return json(401, {}, challenge(challengeScope === undefined ? '' : `, scope="${challengeScope}"`))
    }
    if (method !== 'POST') return response.writeHead(405).end()
    const { id, method: wanted } = JSON.parse(body) as { id?: number; method: string }
    if (neededScope !== undefined && wanted === 'tools/list' && !scope.split(' ').includes(neededScope)) {
      return json(403, {}, challenge(`, error="insufficient_scope", scope="${neededScope}"`))
    }
    if (id === undefined) return response.writeHead(202).end()
    const results = new Map<string, object>([
      [
        'initialize',
        { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
      ],
      ['tools/list', { tools: [] }],
    ])
    const result = results.get(wanted)
    return json(200, { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) })
  }

  return {
    url,
    origin,
    asked,
    behaviour,
    clients,
    /** Every token that is valid now. */
    tokens: () => [...access.keys(), ...refresh.keys()],
    /** Ends every access token, as time does; refresh tokens stay. */
    expire: () => access.clear(),
    /** Ends every token. */
    revoke() {
      access.clear()
      refresh.clear()
    },
    pathsAsked: () => asked.map(({ path }) => path),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function random(): string {
  return randomBytes(16).toString('hex')
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
