import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Awaitable, type Clock, ToolError } from '@tool-hub/core'
import { HttpRefusal } from '@tool-hub/core/errors'
import { parseJson, sha256 } from '@tool-hub/core/lib'
import { closeServer, listening } from '@tool-hub/sandbox/system'
import type { z } from 'zod'
import type { AnsweringService, ForwardableIdentity, ResponseStream, SharedEvents, WarningLog } from './call-router.ts'
import {
  type ClusterKey,
  EMPTY_BODY,
  type Envelope,
  forwardedHeaders,
  hashHeaders,
  MAX_AGE_MS,
  SeenNonces,
  SIGNATURE_HEADER,
} from './envelope.ts'
import { askedSchema, PROGRESS_PATH, type progressSchema } from './pending-forward.ts'
import type { Membership, Place } from './run-places.ts'
import { SignedResponse } from './signed-response.ts'

/** The path of the events of one process, for the others. */
export const EVENTS_PATH = '/cluster/events'
/** Header of an answer that says where the run is now. */
export const MOVED_HEADER = 'x-tool-hub-moved'

const MAX_HEADER_BYTES = 64 * 1024
const MAX_WAITING_BYTES = 8 * 1024 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 65_000
const MAX_CONNECTIONS = 4_096

/** Options of the internal listener. */
export interface InternalServerOptions<Identity extends ForwardableIdentity> {
  readonly member: Membership
  readonly key: ClusterKey
  readonly clock: Clock
  readonly log: WarningLog
  readonly identify: Identify<Identity>
  readonly service: AnsweringService<Identity>
  /** Gets every request that is accepted, with its caller. */
  readonly received: WeakMap<IncomingMessage, Identity>
  readonly events: SharedEvents
}

/** Finds the caller of a credential that another process has checked; `undefined` if it is no longer valid. */
export type Identify<Identity> = (credential: unknown) => Awaitable<Identity | undefined>

/** Answers requests of other processes of the cluster, and refuses all others. */
export class InternalServer<Identity extends ForwardableIdentity> {
  readonly #options: InternalServerOptions<Identity>
  readonly #server: Server<typeof IncomingMessage, typeof SignedResponse>
  readonly #upgraded = new Set<Duplex>()
  readonly #streams = new Set<ResponseStream>()
  /** The responses that have not ended, by the nonces of their requests. */
  readonly #responses = new Map<string, SignedResponse>()
  readonly #nonces: SeenNonces

  constructor(options: InternalServerOptions<Identity>) {
    this.#options = options
    this.#nonces = new SeenNonces(options.clock.now())
    this.#server = createServer({
      ServerResponse: SignedResponse,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    })
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#server.on('request', (request, response) => {
      this.#serve(request, response).catch((error) => options.service.refuse(response, error))
    })
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      this.#upgrade(request, socket, head).catch((error) => {
        options.service.report(error)
        socket.destroy()
      })
    })
  }

  /** Returns the URL at which it listens. */
  async listen(host: string, port: number): Promise<string> {
    await listening(this.#server as Server, host, port).catch((cause: ToolError) => {
      const fix = { key: 'cluster.listen', hint: cause.fix.hint }
      throw new ToolError('CONFIG_INVALID', `${cause.message.slice(0, -1)} (cluster.listen).`, { fix, cause })
    })
    const { port: bound } = this.#server.address() as AddressInfo
    return `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}`
  }

  /** Ends event streams and idle connections, lets requests in progress end for `graceMs`, then closes everything. */
  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    for (const stream of this.#streams) stream.end()
    await closeServer(this.#server as Server, { graceMs, upgraded: this.#upgraded })
  }

  async #serve(request: IncomingMessage, response: SignedResponse): Promise<void> {
    const { key, service, received } = this.#options
    const envelope = this.#open(request)
    if (typeof envelope === 'string') return this.#turnAway(request, response, envelope)
    response.sealWith(key, envelope.nonce)
    this.#responses.set(envelope.nonce, response)
    response.once('close', () => this.#responses.delete(envelope.nonce))
    const body = await service.readBody(request)
    if ((body.length === 0 ? EMPTY_BODY : sha256(body)) !== envelope.body) {
      this.#log(request, 'its body was changed', envelope)
      response.writeHead(401).end()
      return
    }
    if (envelope.run !== undefined && !this.#holds(envelope)) {
      const place = await this.#options.member.placeOf(envelope.run)
      // Its lease may be in the store, and only now known here.
      if (!this.#holds(envelope)) return this.#answerMoved(envelope.run, place, response)
    }
    if (!envelope.caller) return this.#serveProcess(request, response, body)
    const identity = await this.#identify(envelope.caller)
    if (!identity) throw new HttpRefusal(401, 'UNAUTHENTICATED', 'The token was revoked or has expired.')
    received.set(request, identity)
    service.handle(request, response)
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { key, service } = this.#options
    const envelope = this.#open(request)
    const isValid = typeof envelope !== 'string' && envelope.body === EMPTY_BODY
    const identity = isValid && envelope.caller ? await this.#identify(envelope.caller) : undefined
    if (!isValid || !identity) {
      this.#log(request, typeof envelope === 'string' ? envelope : 'its caller is unknown')
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', () => socket.destroy())
      return
    }
    this.#upgraded.add(socket)
    socket.once('close', () => this.#upgraded.delete(socket))
    const signature = key.signResponse(envelope.nonce, 101, {})
    service.accept(request, socket, head, { identity, headers: { [SIGNATURE_HEADER]: signature } })
  }

  /** Returns the envelope of a request of another process, or the reason for its refusal, which only the log shows. */
  #open({ method, url, headers }: IncomingMessage): Envelope | string {
    const { key, member, clock } = this.#options
    const envelope = key.openRequest(headers)
    if (!envelope) return 'it is not signed with the key of the cluster'
    const now = clock.now()
    if (envelope.to !== member.id)
      return 'it was sent to another process, which was probably at this address before this one started'
    if (Math.abs(now - envelope.time) > MAX_AGE_MS) return 'its time is more than 30 s away'
    if (envelope.method !== method || envelope.path !== url) return 'its method or path was changed'
    if (envelope.headers !== hashHeaders(forwardedHeaders(headers))) return 'its headers were changed'
    if (!this.#nonces.add(envelope.nonce, now)) return 'it was received before'
    return envelope
  }

  #holds({ run, epoch }: Envelope): boolean {
    return epoch !== undefined && this.#options.member.leaseOf(run!)?.epoch === epoch
  }

  /** Requests are forwarded once: the sender tries again where the run is now, or answers itself if it is free. */
  #answerMoved(run: string, elsewhere: Place | undefined, response: SignedResponse): void {
    const { member, service } = this.#options
    const held = member.leaseOf(run)
    const place = held ? { process: member.id, epoch: held.epoch } : elsewhere
    response.writeHead(409, { ...service.headers, 'content-type': 'application/json', [MOVED_HEADER]: '1' })
    response.end(JSON.stringify({ place }))
  }

  /** The identity of a caller that another process has authenticated, with no more scopes than it had there. */
  async #identify({ name, scopes, credential }: NonNullable<Envelope['caller']>): Promise<Identity | undefined> {
    const identity = await this.#options.identify(credential)
    if (identity?.caller.name !== name) return undefined
    const { caller } = identity
    if (caller.scopes.size === scopes.length && scopes.every((scope) => caller.scopes.has(scope))) return identity
    const common = scopes.filter((scope) => caller.scopes.has(scope))
    return { ...identity, caller: { ...caller, scopes: new Set(common) } }
  }

  #serveProcess(request: IncomingMessage, response: SignedResponse, body: Uint8Array): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://member')
    if (request.method === 'POST' && pathname === PROGRESS_PATH) return void this.#answerProgress(body, response)
    if (request.method !== 'GET' || pathname !== EVENTS_PATH)
      throw new HttpRefusal(404, 'NOT_FOUND', 'Nothing is here.')
    const { service, events } = this.#options
    const stream = service.openStream(response, { maxWaitingBytes: MAX_WAITING_BYTES })
    this.#streams.add(stream)
    const after = searchParams.get('after') ?? undefined
    if (after === undefined) stream.send('position', {}, events.position)
    const stop = events.subscribe(
      (event, id) => {
        stream.send('event', event, id)
        // The other process connects again and continues after what it has read.
        if (stream.isFull) stream.endSoon()
      },
      { after, isOwn: true },
    )
    stream.send('event', { type: 'presence', people: events.ownPeople })
    response.once('close', () => {
      stop()
      this.#streams.delete(stream)
    })
  }

  /** A process whose connection may be dead asks over another one. */
  #answerProgress(body: Uint8Array, response: SignedResponse): void {
    const asked = askedSchema.safeParse(parseJson(Buffer.from(body).toString())).data
    if (!asked) throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The body names no requests.')
    const sent = asked.nonces.flatMap((nonce) => {
      const open = this.#responses.get(nonce)
      return open ? [[nonce, open.sent] as [string, number]] : []
    })
    response.writeHead(200, { ...this.#options.service.headers, 'content-type': 'application/json' })
    response.end(JSON.stringify({ sent } satisfies z.input<typeof progressSchema>))
  }

  /** Gives no reason, and does not read the body. */
  #turnAway(request: IncomingMessage, response: SignedResponse, why: string): void {
    this.#log(request, why)
    response.writeHead(401, { connection: 'close', 'content-length': 0 })
    response.end(() => request.destroy())
  }

  #log({ socket, method = '' }: IncomingMessage, why: string, envelope?: Envelope): void {
    const address = socket.remoteAddress
    this.#options.log('warn', 'cluster-refused', `A request to the internal listener was refused: ${why}.`, {
      address,
      method,
      from: envelope?.from,
    })
  }
}
