import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { ToolError } from '@tool-hub/core'
import { isLoopback, listening } from '@tool-hub/sandbox/system'
import type { McpHttpOptions, McpHttpServer, ServedHub } from '../options.ts'
import { HttpHandler } from './http-handler.ts'

const GRACE_MS = 5_000

/** Listens for MCP over HTTP. Default address: loopback; any other needs `auth`. */
export async function listenMcp(hub: ServedHub, options: McpHttpOptions): Promise<McpHttpServer> {
  const { host = '127.0.0.1', port = 0, path = '/mcp', graceMs = GRACE_MS, allowedHosts = [] } = options
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (!isLoopback(address) && !options.auth) {
    throw new ToolError(
      'CONFIG_INVALID',
      `${host} can be reached from other machines, and nothing says who may call.`,
      {
        fix: { hint: 'Listen on 127.0.0.1, or give auth: { token } or an OAuth verifier.' },
      },
    )
  }
  const handler = new HttpHandler(hub, { ...options, allowedHosts: [...allowedHosts, ...ownNames(address)] })
  const answer = toNodeHandler(handler, {
    ...(options.onError && { onerror: options.onError }),
    ...(options.maxBodyBytes !== undefined && { maxRequestBodySize: options.maxBodyBytes }),
  })
  const server = createServer((request, response) => {
    if (isReadable(request)) return void answer(request, response)
    response.writeHead(400, { connection: 'close' }).end('Bad Request')
  })
  await listening(server, address, port)
  const { port: bound } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `http://${isIP(address) === 6 ? `[${address}]` : address}:${bound}${path}`,
    close() {
      closing ??= closeAll(server, handler, graceMs)
      return closing
    },
  }
}

/** What makes no request of the web: a Host that is none, or a method that only proxies have. */
function isReadable({ headers, url, method }: IncomingMessage): boolean {
  return URL.canParse(`http://${headers.host ?? ''}${url}`) && method !== 'TRACE' && method !== 'TRACK'
}

/** What the server is called in the Host header of those who use its address. */
function ownNames(address: string): string[] {
  if (address === '0.0.0.0' || address === '::') return []
  return [isIP(address) === 6 ? `[${address}]` : address]
}

async function closeAll(server: Server, handler: HttpHandler, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  await handler.close({ graceMs })
  server.closeIdleConnections()
  // Responses in progress are still sent; event streams are closed.
  setImmediate(() => server.closeAllConnections())
  await closed
}
