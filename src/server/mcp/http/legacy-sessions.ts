import { randomUUID } from 'node:crypto'
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../lib/index.ts'
import { makeServer } from '../make-server.ts'
import type { McpService } from '../mcp-service.ts'
import { type McpCaller, ownerOf } from './mcp-authenticator.ts'
import type { SessionTable, TableEntry } from './session-table.ts'

/** A session of the legacy era, with its connection. */
export interface LegacyEntry extends TableEntry {
  readonly transport: WebStandardStreamableHTTPServerTransport
}

const HEADER = 'mcp-session-id'

/** Serves clients of the legacy era: `initialize` opens a session, with one server for as long as it lasts. */
export class LegacySessions {
  readonly #service: McpService
  readonly #table: SessionTable<TableEntry>
  readonly #entries = new Map<string, LegacyEntry>()

  constructor(service: McpService, table: SessionTable<TableEntry>) {
    this.#service = service
    this.#table = table
  }

  /** Answers a request of the era, whose body was read already. */
  async serve(request: Request, body: unknown, caller: McpCaller): Promise<Response> {
    const id = request.headers.get(HEADER)
    if (id === null) {
      if (isInitializeRequest(body)) return this.#open(request, body, caller)
      return refuseRequest(400, 'Bad Request: Mcp-Session-Id header is required')
    }
    const entry = this.#entries.get(id)
    // The session of another principal is reported like one that does not exist.
    if (!entry || entry.session.principal !== caller.principal) return refuseRequest(404, 'Session not found', -32001)
    this.#table.get(keyOf(id))
    cancelWith(request, body, entry)
    const response = await entry.transport.handleRequest(request, { parsedBody: body, authInfo: caller.authInfo })
    if (request.method === 'GET' && response.ok) countStream(entry, request)
    return response
  }

  async #open(request: Request, body: unknown, caller: McpCaller): Promise<Response> {
    if (!this.#table.makeRoom(caller.principal))
      return refuseRequest(503, 'Too many sessions are open. Try again later.')
    const service = this.#service
    const session = service.openSession(ownerOf(caller))
    const server = makeServer(session, 'legacy')
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const close = async () => {
          await server.close()
          await session.end().catch(service.report)
        }
        const entry = { session, close, transport, usedAt: service.clock.now(), streams: 0 }
        this.#entries.set(id, entry)
        this.#table.add(keyOf(id), entry)
      },
    })
    const disconnect = service.connected(server)
    server.onclose = () => {
      disconnect()
      const id = transport.sessionId
      if (id !== undefined) {
        this.#entries.delete(id)
        this.#table.remove(keyOf(id))
      }
      session.end().catch(service.report)
    }
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody: body, authInfo: caller.authInfo })
    // Refused before there was a session.
    if (transport.sessionId === undefined) await server.close()
    return response
  }
}

function keyOf(id: string): string {
  return `session:${id}`
}

/** A closed stream cannot be resumed, so closing it cancels its request. */
function cancelWith(request: Request, body: unknown, { transport }: LegacyEntry): void {
  if (!isPlainObject(body) || (typeof body.id !== 'string' && typeof body.id !== 'number')) return
  const params = { requestId: body.id, reason: 'The connection was closed.' }
  const cancel = () => transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  request.signal.addEventListener('abort', cancel, { once: true })
}

/** While its client listens, a session is in use. */
function countStream(entry: LegacyEntry, { signal }: Request): void {
  if (signal.aborted) return
  entry.streams++
  signal.addEventListener('abort', () => entry.streams--, { once: true })
}

/** A request that is turned away before it reaches any tool. */
export function refuseRequest(status: number, message: string, code = -32000): Response {
  const headers = status === 405 ? { Allow: 'POST' } : undefined
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
