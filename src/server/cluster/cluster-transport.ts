import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import {
  type CallEvent,
  type CallOptions,
  type Clock,
  callerGone,
  messageOf,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import { after, parseJson, sha256 } from '../../lib/index.ts'
import type { Authenticator, Identity } from '../auth/authenticator.ts'
import { HttpRefusal } from '../http/answers.ts'
import type { Log } from '../service-log.ts'
import type { SharedEventHub } from '../services/event-hub.ts'
import type { ClusterLink, Membership, Place } from './cluster-link.ts'
import { ClusterKey, forwardedHeaders, SIGNATURE_HEADER } from './envelope.ts'
import { EventRelay, readServerEvents } from './event-relay.ts'
import { type ForwardCounts, type ForwardedAnswer, type ForwardedRequest, Forwarder } from './forwarder.ts'
import { InternalServer, type InternalServerOptions, MOVED_HEADER } from './internal-server.ts'
import { type RelayedSocket, relaySocket } from './relay-socket.ts'

/** Options of `ClusterTransport`. */
export interface ClusterTransportOptions {
  readonly member: Membership
  /** The secret that the store keeps for all processes. */
  readonly secret: Uint8Array
  readonly authenticator: Pick<Authenticator, 'identify'>
  readonly events: SharedEventHub
  readonly clock: Clock
  readonly log: Log
}

const MAX_PLACES = 10_000
/** A place that has become wrong is noticed by the process that is there. */
const PLACE_MS = 5_000
const TAGGED = /^([0-9a-f]{16})\./
const REFRESH_MS = 1_000
const MAX_ATTEMPTS = 3
const RETRY_MS = 50
const HOP_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', MOVED_HEADER])

const movedSchema = z.object({
  place: z.object({ process: z.string(), address: z.string().optional(), epoch: z.number() }).optional(),
})

/** Sends requests to the process that has to answer them, and receives those that this process has to answer. */
export class ClusterTransport implements ClusterLink {
  readonly #options: ClusterTransportOptions
  readonly #key: ClusterKey
  readonly #tag: string
  readonly #forwarder: Forwarder
  readonly #relay: EventRelay
  /** Where runs were a moment ago. */
  readonly #places = new LRUCache<string, { readonly place: Place; readonly at: number }>({ max: MAX_PLACES })
  #server: InternalServer | undefined
  #isStopping = false
  #refreshedAt = 0
  #refreshing: Promise<void> | undefined

  constructor(options: ClusterTransportOptions) {
    const { member, clock, log, events } = options
    this.#options = options
    this.#key = new ClusterKey(options.secret)
    this.#tag = tagOf(member.id)
    this.#forwarder = new Forwarder({ member, key: this.#key, clock, log })
    this.#relay = new EventRelay({ member, forwarder: this.#forwarder, events, clock })
  }

  /** The requests that were forwarded so far. */
  get forwarded(): ForwardCounts {
    return this.#forwarder.counts
  }

  /** Listens for other processes, and publishes the address with the heartbeats. */
  async listen(
    { host, port, address }: { readonly host: string; readonly port: number; readonly address?: string },
    parts: Pick<InternalServerOptions, 'app' | 'ws' | 'maxBodyBytes'>,
  ): Promise<string> {
    const { member, clock, log, authenticator, events } = this.#options
    this.#server = new InternalServer({ ...parts, member, key: this.#key, clock, log, authenticator, events })
    const url = await this.#server.listen(host, port)
    member.describe({ address: address ?? url })
    await member.beat()
    if (address !== undefined) void this.#checkAddress(address)
    return address ?? url
  }

  /** Only a warning: a proxy in front of the listener may start later. */
  async #checkAddress(address: string): Promise<void> {
    const { member, log } = this.#options
    await this.#forwarder.probe({ process: member.id, address }).catch((error: unknown) => {
      if (this.#isStopping) return
      const why = error instanceof HttpRefusal ? 'another process answers there' : messageOf(error)
      const text = `This process cannot be reached at its cluster.address ${address}: ${why}. Other services cannot forward requests to it.`
      log('warn', 'cluster-unreachable', text, { address })
    })
  }

  /** Takes no more requests of other processes; those in progress may continue for `graceMs`. */
  async stopListening(grace: { readonly graceMs: number }): Promise<void> {
    this.#isStopping = true
    this.#relay.close()
    await this.#server?.close(grace)
  }

  /** Closes the connections to other processes, when nobody waits for their answers any more. */
  async close(): Promise<void> {
    this.#relay.close()
    await this.#forwarder.close()
  }

  ownId(id: string): string {
    return `${this.#tag}.${id}`
  }

  placeOf(run: string) {
    const { member, clock } = this.#options
    if (member.leaseOf(run)) return undefined
    const known = this.#places.get(run)
    if (known && Math.abs(clock.now() - known.at) < PLACE_MS) return known.place
    return after(member.placeOf(run), async (place) => {
      // A process that has just started may have published its address after the last heartbeat of this one.
      const isNew = place !== undefined && place.address === undefined
      // Another request may have refreshed the list since the place was looked up.
      if (isNew) await this.#refresh()
      const found = isNew ? await member.placeOf(run) : place
      if (found?.address !== undefined) this.#places.set(run, { place: found, at: clock.now() })
      else this.#places.delete(run)
      return found
    })
  }

  async placeOfId(id: string): Promise<Place | undefined> {
    const tag = TAGGED.exec(id)?.[1]
    if (tag === undefined || tag === this.#tag) return undefined
    const known = this.#find(tag)
    // It may have started after the last heartbeat.
    if (known?.address === undefined && (await this.#refresh())) return this.#find(tag)
    return known
  }

  /** Reads the list of processes, at most once a second; returns whether it did. */
  async #refresh(): Promise<boolean> {
    const { member, clock } = this.#options
    if (!this.#refreshing) {
      if (Math.abs(clock.now() - this.#refreshedAt) < REFRESH_MS) return false
      this.#refreshedAt = clock.now()
      this.#refreshing = member.beat().finally(() => {
        this.#refreshing = undefined
      })
    }
    await this.#refreshing
    return true
  }

  async answer(
    place: Place,
    { request, response, identity, run, body }: Parameters<ClusterLink['answer']>[1],
  ): Promise<boolean> {
    const gone = new AbortController()
    const onClose = () => gone.abort(callerGone('The client closed the connection.'))
    response.once('close', onClose)
    try {
      const answer = await this.#send(place, {
        method: request.method!,
        path: request.url!,
        headers: forwardedHeaders(request.headers),
        body,
        run,
        identity,
        signal: gone.signal,
      })
      if (!answer) return false
      await this.#pipe(answer, request, response, body)
      return true
    } catch (error) {
      // Nobody is there to read it.
      if (gone.signal.aborted) return true
      throw error
    } finally {
      response.off('close', onClose)
    }
  }

  async call(identity: Identity, tool: string, input: unknown, options: CallOptions): Promise<ToolResult> {
    const place = options.run === undefined ? undefined : await this.placeOf(options.run)
    const result = place && (await this.#callAt(place, identity, tool, input, options))
    return result ?? this.callHere(identity, tool, input, options)
  }

  async callHere(identity: Identity, tool: string, input: unknown, options: CallOptions): Promise<ToolResult> {
    const { run, onEvent } = options
    const isElsewhere = (result: ToolResult) => !result.ok && result.error.code === 'RUN_ELSEWHERE'
    const held =
      onEvent &&
      ((event: CallEvent) => {
        if (event.type !== 'call-ended' || !isElsewhere(event.result)) onEvent(event)
      })
    const result = await identity.caller.hub.callDynamic(tool, input, { ...options, ...(held && { onEvent: held }) })
    if (run === undefined || !isElsewhere(result)) return result
    // Another process has opened the run in the meantime, or is about to; nothing was executed here.
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      this.#places.delete(run)
      const place = await this.placeOf(run)
      const there = place && (await this.#callAt(place, identity, tool, input, options))
      if (there) return there
      await new Promise<void>((resolve) => this.#options.clock.after(attempt * RETRY_MS, resolve))
    }
    return result
  }

  async relay(place: Place, socket: RelayedSocket): Promise<void> {
    const { address } = place
    if (address === undefined) throw new Error(`Process ${place.process} has no address.`)
    const request = { method: 'GET', path: '/v1/ws', headers: {}, identity: socket.identity }
    const { headers, nonce } = await this.#forwarder.seal(place, request)
    const isSigned = (answer: IncomingMessage) =>
      this.#key.isResponse(nonce, 101, { [SIGNATURE_HEADER]: answer.headers[SIGNATURE_HEADER] })
    await relaySocket(socket, { url: `${address.replace(/^http/, 'ws')}/v1/ws`, headers, isSigned })
  }

  #find(tag: string): Place | undefined {
    const found = this.#options.member.processes().find(({ id, isAlive }) => isAlive && tagOf(id) === tag)
    return found && { process: found.id, ...(found.address !== undefined && { address: found.address }) }
  }

  /** Sends a request, once more if the run has moved; `undefined` if it is to be answered here. */
  async #send(place: Place, request: ForwardedRequest): Promise<ForwardedAnswer | undefined> {
    const { run = '' } = request
    const forget = () => void this.#places.delete(run)
    const first = await this.#forwarder.send(place, request).catch((error) => {
      forget()
      throw error
    })
    const moved = movedTo(first)
    if (!moved) return first
    forget()
    if (!moved.place || moved.place.process === this.#options.member.id) return undefined
    const second = await this.#forwarder.send(moved.place, request)
    if (!movedTo(second)) return second
    throw new HttpRefusal(503, 'UPSTREAM_ERROR', `Run ${request.run} moves from process to process.`, {
      hint: 'Nothing was executed. Try again in a few seconds.',
      headers: { 'retry-after': '2' },
    })
  }

  async #pipe(
    { status, headers, body }: ForwardedAnswer,
    { method, url = '' }: IncomingMessage,
    response: ServerResponse,
    sent: Uint8Array | undefined,
  ): Promise<void> {
    const shown = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name))
    response.writeHead(status, Object.fromEntries(shown) as Record<string, string>)
    if (Buffer.isBuffer(body)) {
      response.end(method === 'HEAD' ? undefined : body)
      return
    }
    response.flushHeaders()
    try {
      await pipeline(body, response, { end: false })
      response.end()
    } catch (error) {
      const isEvents = String(headers['content-type']).startsWith('text/event-stream')
      const lost = processLost('The process that answers', error)
      const last = url.startsWith('/mcp') ? mcpErrors(sent, lost) : errorEvent(lost)
      if (isEvents && !response.destroyed) return void response.end(last)
      response.destroy()
    }
  }

  async #callAt(
    place: Place,
    identity: Identity,
    tool: string,
    input: unknown,
    { signal, onEvent, ...options }: CallOptions,
  ): Promise<ToolResult | undefined> {
    const accept = onEvent ? 'text/event-stream' : 'application/json'
    const answer = await this.#send(place, {
      method: 'POST',
      path: `/v1/tools/${encodeURIComponent(tool)}/call`,
      headers: { host: 'localhost', accept, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ input, ...options })),
      run: options.run,
      identity,
      signal,
    })
    if (!answer) return undefined
    try {
      return await readCall(answer, onEvent)
    } catch (error) {
      throw ToolError.is(error) || signal?.aborted ? error : processLost(`Process ${place.process}`, error)
    }
  }
}

/** Reads the result of a call, with its events if somebody wants them. */
async function readCall({ status, body }: ForwardedAnswer, onEvent: CallOptions['onEvent']): Promise<ToolResult> {
  if (Buffer.isBuffer(body) || status !== 200 || !onEvent) return readResult(status, await textOf(body))
  for await (const { data } of readServerEvents(body)) {
    const event = parseJson(data) as CallEvent
    onEvent(event)
    if (event?.type === 'call-ended') return event.result
  }
  throw new Error('its answer ended before the call')
}

function tagOf(process: string): string {
  return sha256(process).slice(0, 16)
}

function movedTo({ status, headers, body }: ForwardedAnswer): z.output<typeof movedSchema> | undefined {
  if (status !== 409 || headers[MOVED_HEADER] === undefined || !Buffer.isBuffer(body)) return undefined
  return movedSchema.parse(parseJson(body.toString()))
}

function processLost(process: string, error: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', `${process} was lost: ${messageOf(error)}.`, {
    hint: 'Whether the call had an effect is not known: send it again with the same idempotency key, or look at its run.',
  })
}

/** The last event of a stream whose process was lost: the end of the stream is not the end of its call. */
function errorEvent({ code, message, retryable, fix }: ToolError): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { code, message, retryable, fix } })}\n\n`
}

const rpcIds = z.preprocess(
  (sent) => [sent].flat(),
  z.array(z.object({ id: z.union([z.string(), z.number()]).optional().catch(undefined) })),
)

/** The same for requests of MCP: clients of it wait for an answer to each until their own time limit. */
function mcpErrors(sent: Uint8Array | undefined, { code, message, retryable, fix }: ToolError): string {
  const asked = rpcIds.safeParse(parseJson(Buffer.from(sent ?? []).toString())).data ?? []
  const error = { code: -32603, message: `${message} ${fix.hint}`, data: { code, retryable, fix } }
  const answers = asked.flatMap(({ id }) => (id === undefined ? [] : [{ jsonrpc: '2.0', id, error }]))
  return answers.map((answer) => `event: message\ndata: ${JSON.stringify(answer)}\n\n`).join('')
}

function readResult(status: number, text: string): ToolResult {
  const said = parseJson(text) as { error?: { code: never; message: string; fix?: { hint?: string } } } | undefined
  if (status === 200 && said) return said as ToolResult
  const { code = 'UPSTREAM_ERROR', message = `Another process answers ${status}.`, fix } = said?.error ?? {}
  throw new ToolError(code, message, { ...(fix?.hint !== undefined && { hint: fix.hint }) })
}

async function textOf(body: ForwardedAnswer['body']): Promise<string> {
  if (Buffer.isBuffer(body)) return body.toString()
  let text = ''
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) text += chunk
  return text
}
