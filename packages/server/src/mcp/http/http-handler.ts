import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isJsonContentType,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
  originValidationResponse,
  readRequestBody,
} from '@modelcontextprotocol/server'
import { messageOf } from '@tool-hub/core'
import { turnFor } from '@tool-hub/core/lib'
import { checkJsonEntries } from '@tool-hub/runtime/limits'
import { ClientSession } from '../client-session.ts'
import { connectServer } from '../make-server.ts'
import { McpService } from '../mcp-service.ts'
import type { McpFetchHandler, McpFetchOptions, ServedHub } from '../options.ts'
import {
  callerOf,
  createMcpAuthenticator,
  type McpAuthenticator,
  type McpCaller,
  ownerOf,
} from './mcp-authenticator.ts'
import { ANSWER_MS, LegacySessions, refuseRequest, SessionTable, type TableEntry, within } from './sessions.ts'

const MAX_SESSIONS = 100
const IDLE_MS = 30 * 60_000
const MAX_BODY_BYTES = 4 * 1024 * 1024
const MAX_ENTRIES = 50_000

/** MCP over HTTP: checks whom a request was sent to, from where and by whom, then serves it in the era that it speaks. */
export class HttpHandler implements McpFetchHandler {
  readonly #service: McpService
  readonly #modern: McpHttpHandler
  readonly #legacy: LegacySessions
  readonly #table: SessionTable<TableEntry>
  readonly #authenticator: McpAuthenticator
  readonly #hosts: string[]
  readonly #origins: string[]
  readonly #path: string
  readonly #maxBodyBytes: number
  readonly #maxBodyEntries: number
  /** Whose a request is, for where its server is made. */
  readonly #sessions = new WeakMap<Request, ClientSession>()
  #closing: Promise<void> | undefined

  constructor(hub: ServedHub, options: McpFetchOptions) {
    const { maxSessions = MAX_SESSIONS, sessionIdleMs = IDLE_MS, allowedHosts = [], allowedOrigins = [] } = options
    this.#authenticator = createMcpAuthenticator(options.auth)
    this.#service = new McpService(hub, options)
    const { clock } = this.#service
    this.#table = new SessionTable({ most: maxSessions, idleMs: sessionIdleMs, clock })
    this.#legacy = new LegacySessions(this.#service, this.#table)
    this.#hosts = [...localhostAllowedHostnames(), ...allowedHosts]
    this.#origins = [...localhostAllowedOrigins(), ...allowedOrigins]
    this.#path = options.path ?? '/mcp'
    this.#maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES
    this.#maxBodyEntries = options.maxBodyEntries ?? hub.maxInputEntries ?? MAX_ENTRIES
    this.#modern = this.#createModern()
    this.#service.tools.onChange(() => this.#modern.notify.toolsChanged())
    this.#service.onListChange(() => this.#modern.notify.toolsChanged())
  }

  readonly fetch = async (request: Request, { authInfo }: { readonly authInfo?: AuthInfo } = {}): Promise<Response> => {
    if (this.#closing) return refuseRequest(503, 'The server is closing.')
    const refused =
      hostHeaderValidationResponse(request, this.#hosts) ?? originValidationResponse(request, this.#origins)
    if (refused) return refused
    const metadata = this.#authenticator.metadataResponse(request)
    if (metadata) return metadata
    if (new URL(request.url).pathname !== this.#path) return refuseRequest(404, 'Not Found')
    const caller = authInfo ? callerOf(authInfo) : await this.#authenticator.authenticate(request)
    return caller instanceof Response ? caller : this.#serve(request, caller)
  }

  close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(graceMs)
    return this.#closing
  }

  async #serve(request: Request, caller: McpCaller): Promise<Response> {
    const isPost = request.method === 'POST'
    if (!isPost || !isJsonContentType(request.headers.get('content-type'))) {
      const hasSession = !isPost && request.headers.has('mcp-session-id')
      if (hasSession) return this.#legacy.serve(request, undefined, caller)
      return this.#serveModern(request, undefined, caller)
    }
    const body = await this.#readBody(request, caller)
    if (body instanceof Response) return body
    const { json } = body
    if (await isLegacyRequest(request, json)) return this.#legacy.serve(request, json, caller)
    return this.#serveModern(request, json, caller)
  }

  #serveModern(request: Request, parsedBody: unknown, caller: McpCaller): Promise<Response> {
    const session = this.#sessionOf(caller)
    if (!session) return Promise.resolve(refuseRequest(503, 'Too many sessions are open. Try again later.'))
    this.#sessions.set(request, session)
    return this.#modern.fetch(request, { parsedBody, authInfo: caller.authInfo })
  }

  async #readBody(request: Request, { principal }: McpCaller): Promise<{ readonly json: unknown } | Response> {
    const read = await readRequestBody(request, this.#maxBodyBytes)
    if (read.tooLarge) return refuseRequest(413, `The request has more than ${this.#maxBodyBytes} bytes.`)
    try {
      checkJsonEntries(read.text, this.#maxBodyEntries)
    } catch (error) {
      return refuseRequest(413, messageOf(error), -32602)
    }
    const waiting = turnFor(read.text.length, principal)
    if (waiting) await waiting
    try {
      return { json: JSON.parse(read.text) }
    } catch {
      return refuseRequest(400, 'Parse error: the request body is not valid JSON', -32700)
    }
  }

  #createModern(): McpHttpHandler {
    const make = ({ requestInfo }: { readonly requestInfo?: Request }) => {
      const method = requestInfo?.headers.get('mcp-method') ?? undefined
      return connectServer(this.#sessions.get(requestInfo!)!, 'modern', { method }).server
    }
    return createMcpHandler(make, {
      legacy: 'reject',
      onerror: this.#service.report,
      maxRequestBodySize: this.#maxBodyBytes,
    })
  }

  /** The modern era has no sessions: all that one caller does belongs together. */
  #sessionOf(caller: McpCaller): ClientSession | undefined {
    const { principal } = caller
    const key = `principal:${principal}`
    const known = this.#table.get(key)
    if (known) return known.session
    if (!this.#table.makeRoom(principal)) return undefined
    const { clock, report } = this.#service
    const session = new ClientSession(this.#service, ownerOf(caller))
    this.#table.add(key, { session, close: () => session.end().catch(report), usedAt: clock.now(), streams: 0 })
    return session
  }

  async #close(graceMs: number): Promise<void> {
    const { clock } = this.#service
    if (graceMs > 0) await within(this.#table.whenIdle(), graceMs, clock)
    const ended = this.#table.closeAll()
    await within(ended, ANSWER_MS, clock)
    await this.#modern.close()
    await ended
    this.#service.close()
  }
}
