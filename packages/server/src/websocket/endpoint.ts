import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Awaitable, type Clock, messageOf, systemClock, ToolError } from '@tool-hub/core'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Refusal } from '../auth/auth-request.ts'
import type { Identity } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import { type CallRouter, localRouter, type OtherProcesses } from '../call-router.ts'
import { refuseUpgrade } from '../http/answers.ts'
import type { Service } from '../service.ts'
import { PrincipalCounts } from '../services/counts.ts'
import { CLOSE_CODES, WS_LIMITS, type WsLimits } from './messages.ts'
import { Presence } from './session-watch.ts'
import { type ConnectionContext, WsConnection } from './ws-connection.ts'
import type { WsSession } from './ws-session.ts'
import { WsSessions } from './ws-sessions.ts'

/** The WebSocket subprotocol. */
const SUBPROTOCOL = 'tool-hub.v1'

const BEARER = 'bearer.'

/** Options of the WebSocket endpoint. */
export interface WebSocketEndpointOptions {
  readonly service: Pick<Service, 'events' | 'approvals'>
  /** Authenticates a request; a token sent as a subprotocol is in its Authorization header by then. */
  readonly authenticate: (request: IncomingMessage) => Awaitable<Identity | Refusal>
  readonly clock?: Clock
  readonly limits?: Partial<WsLimits>
  /** Where calls are made. Default: by this process. */
  readonly router?: CallRouter<Identity>
}

/** The WebSocket endpoint at `/v1/ws`. */
export interface WebSocketEndpoint {
  /** Handles the `upgrade` event of a server, including requests that it refuses. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Takes an upgrade request that another process has forwarded, with its caller; `headers` are added to the response. */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    forwarded: { readonly identity: Identity; readonly headers: Readonly<Record<string, string>> },
  ): void
  /** Disconnects the callers that match, e.g. after a token was revoked. */
  dismiss(who: (caller: Caller) => boolean): void
  /** Refuses new connections and calls, lets calls in progress end for `graceMs`, then closes everything. */
  close(options?: { readonly graceMs?: number }): Promise<void>
  readonly connections: number
}

const PATH = '/v1/ws'
const SWEEP_MS = 5_000
const CHECK_MS = 5_000
const CLOSING_MS = 1_000

type SessionConnectionContext = ConnectionContext<WsSession>

/** Creates the WebSocket endpoint: calls, client tools, approvals and events, resumed after a dropped connection. */
export function createWebSocketEndpoint(options: WebSocketEndpointOptions): WebSocketEndpoint {
  return new Endpoint(options)
}

class Endpoint implements WebSocketEndpoint, SessionConnectionContext {
  readonly clock: Clock
  readonly limits: WsLimits
  readonly #authenticate: WebSocketEndpointOptions['authenticate']
  readonly #server: WebSocketServer
  readonly #sessions: WsSessions
  readonly #connections = new Set<WsConnection<WsSession>>()
  readonly others: OtherProcesses<Identity> | undefined
  /** Further headers of responses to upgrade requests. */
  readonly #headers = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()
  readonly #counts = new PrincipalCounts()
  #arriving = 0
  #isClosing = false
  #stopSweep: (() => void) | undefined
  #whenEmpty: (() => void) | undefined

  constructor(options: WebSocketEndpointOptions) {
    const { service, authenticate, clock = systemClock, limits, router = localRouter } = options
    this.clock = clock
    this.others = router.others
    this.limits = { ...WS_LIMITS, ...limits }
    this.#authenticate = authenticate
    const { events, approvals } = service
    const presence = new Presence(events, clock)
    this.#sessions = new WsSessions({ events, approvals, presence, clock, limits: this.limits, router })
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: this.limits.messageBytes,
      handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
    })
    if (router.others) {
      this.#server.on('headers', (lines, request) => {
        for (const [name, value] of Object.entries(this.#headers.get(request) ?? {})) lines.push(`${name}: ${value}`)
      })
    }
  }

  get connections(): number {
    return this.#connections.size
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // An error before the upgrade only closes the socket.
    socket.on('error', ignore)
    void this.#welcome(request, socket, head).catch((error: unknown) => {
      process.emitWarning(`A WebSocket could not be admitted: ${messageOf(error)}`, 'ToolHubWarning')
      refuseUpgrade(socket, 500, new ToolError('INTERNAL', 'Who this is could not be checked.'))
    })
  }

  accept: WebSocketEndpoint['accept'] = (request, socket, head, { identity, headers }) => {
    if (this.#isClosing) return refuseUpgrade(socket, 503, stopping())
    this.#headers.set(request, headers)
    this.#server.handleUpgrade(request, socket, head, (ws) => this.#connected(ws, socket, identity, FORWARDED))
  }

  dismiss(who: (caller: Caller) => boolean): void {
    for (const session of this.#sessions) if (who(session.caller)) this.#sessions.end(session)
    for (const connection of this.#connections) {
      if (who(connection.caller)) connection.close(CLOSE_CODES.notAdmitted, 'not admitted any more')
    }
  }

  async close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#isClosing = true
    for (const session of this.#sessions) session.stopTaking()
    await this.#within(graceMs, Promise.all(Array.from(this.#sessions, ({ calls }) => calls.idle())))
    for (const connection of this.#connections) connection.close(1001, 'the server stops')
    for (const session of this.#sessions) this.#sessions.end(session)
    const emptied = new Promise<void>((resolve) => (this.#whenEmpty = resolve))
    if (this.#connections.size > 0) await this.#within(CLOSING_MS, emptied)
    for (const connection of this.#connections) connection.terminate()
    this.#stopSweep?.()
  }

  greet: SessionConnectionContext['greet'] = (connection, { session: id, received = 0 }) => {
    const known = id === undefined ? undefined : this.#sessions.resume(id, connection.caller)
    const session = known ?? this.#sessions.open(connection.caller)
    const welcome = { type: 'welcome', session: session.id, resumed: known !== undefined }
    connection.write(JSON.stringify({ ...welcome, principal: connection.caller.name }))
    session.attach(connection, received)
    return session
  }

  closed: SessionConnectionContext['closed'] = (connection, code) => {
    this.#connections.delete(connection)
    this.#counts.remove(connection.caller.name)
    if (this.#connections.size === 0) this.#whenEmpty?.()
    const { session } = connection
    if (!session?.detach(connection)) return
    // Code 1000 is a regular close; any other is a dropped connection.
    if (code === 1000 || !session.isWorthKeeping) this.#sessions.end(session)
    else this.#sessions.leave(session)
  }

  async #welcome(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (this.#isClosing) return refuseUpgrade(socket, 503, stopping())
    if (request.url?.split('?')[0] !== PATH) return refuseUpgrade(socket, 404, elsewhere())
    const { connections: most, connectionsEach: maxEach } = this.limits
    const hasRoom = this.#connections.size + this.#arriving < most
    if (!hasRoom) return refuseUpgrade(socket, 503, full(`There are ${most} connections`))
    presentToken(request)
    this.#arriving++
    try {
      const identity = await this.#authenticate(request)
      if (!identity.ok) return refuseUpgrade(socket, identity.status, identity.error, identity.headers)
      if (this.#isClosing) return refuseUpgrade(socket, 503, stopping())
      const { name } = identity.caller
      if (this.#counts.of(name) >= maxEach)
        return refuseUpgrade(socket, 429, full(`${name} has ${maxEach} connections`))
      this.#server.handleUpgrade(request, socket, head, (ws) => this.#connected(ws, socket, identity))
    } finally {
      this.#arriving--
    }
  }

  #connected(
    ws: WebSocket,
    socket: Duplex,
    identity: Identity,
    { isForwarded }: { readonly isForwarded: boolean } = { isForwarded: false },
  ): void {
    socket.off('error', ignore)
    // A forwarded connection is never forwarded again.
    const context: SessionConnectionContext = isForwarded
      ? { clock: this.clock, limits: this.limits, greet: this.greet, closed: this.closed }
      : this
    this.#connections.add(new WsConnection(ws, socket, identity, context))
    this.#counts.add(identity.caller.name)
    this.#stopSweep ??= this.clock.after(SWEEP_MS, this.#sweep, { background: true })
  }

  /** One timer for all connections: silent ones are pinged, and closed if they do not answer. */
  readonly #sweep = (): void => {
    const now = this.clock.now()
    for (const connection of this.#connections) {
      const { activeAt, pingedAt, session } = connection
      if (now - connection.checkedAt >= CHECK_MS) void this.#check(connection, now)
      if (now - activeAt < this.limits.silenceMs) continue
      if (!session && !connection.isRelayed) connection.close(CLOSE_CODES.badMessages, 'no hello came')
      else if (pingedAt <= activeAt) connection.ping(now)
      else if (now - pingedAt >= this.limits.silenceMs) connection.terminate()
    }
    this.#sessions.sweep()
    const isNeeded = this.#connections.size + this.#sessions.size > 0
    this.#stopSweep = isNeeded ? this.clock.after(SWEEP_MS, this.#sweep, { background: true }) : undefined
  }

  /** Closes a connection whose token was revoked or whose sign-in has ended. */
  async #check(connection: WsConnection<WsSession>, now: number): Promise<void> {
    connection.checkedAt = now
    try {
      const holds = await connection.holds()
      if (holds) return
      if (connection.session) this.#sessions.end(connection.session)
      connection.close(CLOSE_CODES.notAdmitted, 'not admitted any more')
    } catch {
      // The check failed: the client may reconnect and is authenticated again; its session waits.
      connection.close(CLOSE_CODES.notAdmitted, 'could not be checked')
    }
  }

  async #within(ms: number, done: Promise<unknown>): Promise<void> {
    let stop = () => {}
    const late = new Promise<void>((resolve) => (stop = this.clock.after(ms, resolve)))
    await Promise.race([done, late])
    stop()
  }
}

const FORWARDED = { isForwarded: true } as const

function stopping(): ToolError {
  return new ToolError('ABORTED', 'The service is closing.', { hint: 'Try again in a moment.', retryable: true })
}

function elsewhere(): ToolError {
  return new ToolError('NOT_FOUND', `WebSockets are at ${PATH}.`)
}

function full(what: string): ToolError {
  return new ToolError('RATE_LIMITED', `${what}, which is the limit.`, {
    hint: 'Try again later, or close some.',
  })
}

function ignore(): void {}

/**
 * A browser cannot set headers of a WebSocket, and a token in a URL ends up in logs, so the token may be sent as a
 * subprotocol: `tool-hub.v1, bearer.<token>`. It becomes the Authorization header, unless there is one, and is removed
 * from the subprotocols.
 */
export function presentToken({ headers, headersDistinct }: IncomingMessage): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim())
  const bearer = offered.find((protocol) => protocol.startsWith(BEARER))
  if (bearer === undefined) return
  const others = offered.filter((protocol) => !protocol.startsWith(BEARER))
  if (others.length > 0) headers['sec-websocket-protocol'] = others.join(', ')
  else delete headers['sec-websocket-protocol']
  if (headers.authorization !== undefined) return
  headers.authorization = `Bearer ${bearer.slice(BEARER.length)}`
  headersDistinct.authorization = [headers.authorization]
}
