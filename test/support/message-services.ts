import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that a fake service got. */
export interface GotRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly json: Record<string, unknown>
}

/** Services on loopback that speak as the real ones do, and some that behave badly. */
export interface MessageServices {
  readonly url: string
  readonly got: GotRequest[]
  /** Statuses for the next requests of well-behaved services, in order; none is as usual. */
  readonly upsets: ('429' | '500' | 'reset')[]
  close(): Promise<void>
}

const SLACK = '/services/T0001/B0001/slack-path-secret-0001'
const DISCORD = '/api/webhooks/1001/discord-path-secret-0001'
const TOKEN = '12345:telegram-token-secret-0001'

/** Paths and tokens that the services know. */
export const KNOWN = { slack: SLACK, discord: DISCORD, token: TOKEN } as const

/** Starts them on one port. */
export async function startMessageServices(): Promise<MessageServices> {
  const got: GotRequest[] = []
  const upsets: MessageServices['upsets'] = []
  const server = createServer(async (request, response) => {
    const path = request.url!
    if (path === '/hang') return
    if (path === '/big') return flood(response)
    const body = await readBody(request)
    got.push({ method: request.method!, path, headers: request.headers, body, json: parse(body) })
    if (path === '/reset' || upsets[0] === 'reset') {
      if (path !== '/reset') upsets.shift()
      request.socket.destroy()
      return
    }
    if (path === '/redirect') return void response.writeHead(307, { location: '/hook' }).end()
    if (path === '/refuse') return void response.writeHead(403).end(`no\u001b[31m entry\n${'x'.repeat(5_000)}`)
    const upset = upsets.shift()
    answer(path, got.at(-1)!, response, upset === 'reset' ? undefined : upset)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    upsets,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(
  path: string,
  request: GotRequest,
  response: ServerResponse,
  upset: '429' | '500' | undefined,
): unknown {
  if (path.startsWith('/services/')) return slack(path, request, response, upset)
  if (path.startsWith('/api/webhooks/')) return discord(path, request, response, upset)
  if (path.startsWith('/bot')) return telegram(path, request, response, upset)
  const later = new Date(Date.now() + 60_000).toUTCString()
  if (upset) return response.writeHead(Number(upset), { 'retry-after': later }).end('busy')
  return response.writeHead(204).end()
}

function slack(path: string, { json }: GotRequest, response: ServerResponse, upset?: string): unknown {
  const say = (status: number, text: string) =>
    response
      .writeHead(status, { 'content-type': 'text/html', ...(status === 429 && { 'retry-after': '30' }) })
      .end(text)
  if (upset === '429') return say(429, 'rate_limited')
  if (path !== SLACK) return say(404, 'no_service')
  if (typeof json.text !== 'string' || json.text === '') return say(400, 'invalid_payload')
  return say(200, 'ok')
}

function discord(path: string, { method, json, body }: GotRequest, response: ServerResponse, upset?: string): unknown {
  const say = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (upset === '429') return say(429, { message: 'You are being rate limited.', retry_after: 1.337, global: false })
  const { pathname, searchParams } = new URL(path, 'http://discord')
  const [, id] = /^\/messages\/(.*)$/.exec(pathname.slice(DISCORD.length)) ?? []
  if (!pathname.startsWith(DISCORD)) return say(401, { message: 'Invalid Webhook Token', code: 50_027 })
  if (method === 'PATCH' && id !== '900') return say(404, { message: 'Unknown Message', code: 10_008 })
  const content = json.content ?? /"content":"([^"]*)"/.exec(String(body))?.[1]
  if (typeof content !== 'string' || content.length > 2_000)
    return say(400, { message: 'Invalid Form Body', code: 50_035 })
  if (searchParams.get('wait') !== 'true') return response.writeHead(204).end()
  return say(200, { id: '900', type: 0, content, channel_id: '55' })
}

function telegram(path: string, { json, body }: GotRequest, response: ServerResponse, upset?: string): unknown {
  const say = (status: number, value: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  const refuse = (error_code: number, description: string, parameters?: object) =>
    say(error_code, { ok: false, error_code, description, parameters })
  if (upset === '429') return refuse(429, 'Too Many Requests: retry after 5', { retry_after: 5 })
  const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? []
  if (token !== TOKEN) return refuse(401, 'Unauthorized')
  const chat = json.chat_id ?? /name="chat_id"\r\n\r\n(.*)\r\n/.exec(String(body))?.[1]
  if (chat === '-404') return refuse(400, 'Bad Request: chat not found')
  if (method === 'setMessageReaction') return say(200, { ok: true, result: true })
  if (method === 'editMessageText' && json.message_id !== 77)
    return refuse(400, 'Bad Request: message to edit not found')
  return say(200, { ok: true, result: { message_id: 77, chat: { id: Number(chat) }, date: 1 } })
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function parse(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return {}
  }
}

/** 100 MB, as fast as they are taken. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(1_000_000, 'x')
  let left = 100
  const more = () => {
    while (left-- > 0 && !response.destroyed) if (!response.write(chunk)) return
    response.end()
  }
  response.on('drain', more)
  more()
}
