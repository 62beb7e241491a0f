import { randomUUID } from 'node:crypto'
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { ClientSession } from '../client-session.ts'
import { connectServer } from '../make-server.ts'
import type { McpService } from '../mcp-service.ts'
import { type McpCaller, ownerOf } from './mcp-authenticator.ts'

/** A session of the legacy era, with its connection. */
interface LegacyEntry extends TableEntry {
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
    const { ownId = (id: string) => id } = service.options
    const session = new ClientSession(service, ownerOf(caller))
    const { server } = connectServer(session, 'legacy')
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => ownId(randomUUID()),
      onsessioninitialized: (id) => {
        const close = async () => {
          const ended = session.end().catch(service.report)
          await within(ended, ANSWER_MS, service.clock)
          await server.close()
          await ended
        }
        const entry = { session, close, transport, usedAt: service.clock.now(), streams: 0 }
        this.#entries.set(id, entry)
        this.#table.add(keyOf(id), entry)
      },
    })
    const disconnect = service.connected(server, session)
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

/**
 * How long calls that were aborted may take to answer before their streams are closed. A client waits for an answer that
 * never comes until its own time limit.
 */
export const ANSWER_MS = 1_000

/** Waits for a promise that never fails, at most so long. */
export async function within(ended: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  let cancel = () => {}
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve)
  })
  await Promise.race([ended, over])
  cancel()
}

/** A session over HTTP, and what is open for it. */
export interface TableEntry {
  readonly session: ClientSession
  /** Ends the session with all that belongs to it; never fails. */
  readonly close: () => Promise<void>
  usedAt: number
  /** Streams on which its client listens. */
  streams: number
}

/**
 * The sessions of a server, limited in number; each ends after its client was idle for long. When the table is full,
 * the principal with the most sessions loses the one that was idle for longest, so that nobody can lock others out: one
 * with more than a quarter of all loses even a session in use to one that has less.
 */
export class SessionTable<E extends TableEntry> {
  readonly #entries = new Map<string, E>()
  readonly #most: number
  readonly #idleMs: number
  readonly #clock: Clock
  #cancelSweep: (() => void) | undefined

  constructor({ most, idleMs, clock }: { readonly most: number; readonly idleMs: number; readonly clock: Clock }) {
    this.#most = most
    this.#idleMs = idleMs
    this.#clock = clock
  }

  /** The session of a key, which is thereby in use. */
  get(key: string): E | undefined {
    const entry = this.#entries.get(key)
    if (entry) entry.usedAt = this.#clock.now()
    return entry
  }

  /** Whether there is room for one more of a principal, after another one made it. */
  makeRoom(principal: string): boolean {
    if (this.#entries.size < this.#most) return true
    const counts = this.#counts()
    const most = Math.max(0, ...counts.values())
    const own = counts.get(principal) ?? 0
    const isOwn = own >= most
    const others = [...this.#entries].filter(([, { session }]) =>
      isOwn ? session.principal === principal : counts.get(session.principal) === most,
    )
    const share = Math.max(1, Math.floor(this.#most / 4))
    const mayStop = own < share && most > share
    const [first] = others
      .filter(([, entry]) => mayStop || isIdle(entry))
      .sort(([, a], [, b]) => inUse(a) - inUse(b) || a.usedAt - b.usedAt)
    if (!first) return false
    this.#close(...first)
    return true
  }

  add(key: string, entry: E): void {
    this.#entries.set(key, entry)
    this.#cancelSweep ??= this.#sweepLater()
  }

  /** Forgets a session that has ended by itself. */
  remove(key: string): void {
    this.#entries.delete(key)
  }

  /** Resolves when no call is in progress. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ session }) => session.whenIdle()))
  }

  async closeAll(): Promise<void> {
    this.#cancelSweep?.()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.allSettled(entries.map(({ close }) => close()))
  }

  #counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { session } of this.#entries.values()) {
      counts.set(session.principal, (counts.get(session.principal) ?? 0) + 1)
    }
    return counts
  }

  #sweepLater(): () => void {
    return this.#clock.after(
      this.#idleMs / 4,
      () => {
        const oldest = this.#clock.now() - this.#idleMs
        for (const [key, entry] of this.#entries) if (isIdle(entry) && entry.usedAt <= oldest) this.#close(key, entry)
        this.#cancelSweep = this.#entries.size > 0 ? this.#sweepLater() : undefined
      },
      { background: true },
    )
  }

  #close(key: string, entry: E): void {
    this.#entries.delete(key)
    void entry.close()
  }
}

function isIdle(entry: TableEntry): boolean {
  return inUse(entry) === 0
}

/** 0: idle, 1: its client has an open stream, 2: calls are in progress. */
function inUse({ session, streams }: TableEntry): number {
  if (session.isBusy) return 2
  return streams > 0 ? 1 : 0
}
