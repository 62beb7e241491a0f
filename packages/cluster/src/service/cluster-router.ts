import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import {
  type CallEvent,
  type CallOptions,
  type Clock,
  callerGone,
  messageOf,
  ToolError,
  type ToolResult,
} from '@tool-hub/core'
import { HttpRefusal } from '@tool-hub/core/errors'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type {
  AnsweringService,
  CallRouter,
  Concern,
  ForwardableIdentity,
  OtherProcesses,
  RelayedSocket,
  RoutedCall,
  RoutedExchange,
  SharedEvents,
  WarningLog,
} from './call-router.ts'
import { ClusterKey, forwardedHeaders, SIGNATURE_HEADER } from './envelope.ts'
import { EventRelay, readServerEvents } from './event-relay.ts'
import { type ForwardCounts, type ForwardedAnswer, type ForwardedRequest, Forwarder } from './forwarder.ts'
import { type Identify, InternalServer, MOVED_HEADER } from './internal-server.ts'
import { relaySocket } from './relay-socket.ts'
import { type Membership, type Place, RunPlaces } from './run-places.ts'

/** Options of `ClusterRouter`. */
export interface ClusterRouterOptions<Identity extends ForwardableIdentity> {
  readonly member: Membership
  /** The secret that the store keeps for all processes. */
  readonly secret: Uint8Array
  readonly identify: Identify<Identity>
  readonly events: SharedEvents
  readonly clock: Clock
  readonly log: WarningLog
}

const MAX_ATTEMPTS = 3
const RETRY_MS = 50
const HOP_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', MOVED_HEADER])

const movedSchema = z.object({
  place: z.object({ process: z.string(), address: z.string().optional(), epoch: z.number() }).optional(),
})

/**
 * Routes calls and requests to the process that has their run, and receives those that this process has to answer for
 * others.
 */
export class ClusterRouter<Identity extends ForwardableIdentity>
  implements CallRouter<Identity>, OtherProcesses<Identity>
{
  readonly others = this
  readonly #options: ClusterRouterOptions<Identity>
  readonly #key: ClusterKey
  readonly #places: RunPlaces
  readonly #forwarder: Forwarder
  readonly #relay: EventRelay
  /** Who the requests come from that other processes have forwarded. */
  readonly #received = new WeakMap<IncomingMessage, Identity>()
  #server: InternalServer<Identity> | undefined
  #isStopping = false

  constructor(options: ClusterRouterOptions<Identity>) {
    const { member, clock, log, events } = options
    this.#options = options
    this.#key = new ClusterKey(options.secret)
    this.#places = new RunPlaces(member, clock)
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
    service: AnsweringService<Identity>,
  ): Promise<string> {
    const { member, clock, log, identify, events } = this.#options
    const own = { member, key: this.#key, clock, log, identify, events, received: this.#received }
    this.#server = new InternalServer({ ...own, service })
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
    return this.#places.ownId(id)
  }

  forwardedBy(request: IncomingMessage): Identity | undefined {
    return this.#received.get(request)
  }

  async answer(concern: Concern, { request, response, identity, bytes }: RoutedExchange<Identity>): Promise<boolean> {
    const run = 'run' in concern ? concern.run : undefined
    const place = await ('run' in concern ? this.#places.ofRun(concern.run) : this.#places.ofId(concern.id))
    if (!place) return false
    const body = await bytes()
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

  async call(call: RoutedCall<Identity>): Promise<ToolResult> {
    const { request, identity } = call
    // A request that was forwarded is not forwarded again: its sender tries again where the run is now.
    const mayLeave =
      identity !== undefined && call.options.run !== undefined && !(request && this.#received.has(request))
    if (!mayLeave) return callHere(call)
    // Whether the run of a request is elsewhere was looked up when it was received.
    const there = request ? undefined : await this.#callElsewhere(call, identity)
    return there ?? this.#callOrFollow(call, identity)
  }

  async relay(session: string, socket: RelayedSocket<Identity>): Promise<boolean> {
    const place = await this.#places.ofId(session)
    if (!place) return false
    const { address } = place
    if (address === undefined) throw new Error(`Process ${place.process} has no address.`)
    const request = { method: 'GET', path: '/v1/ws', headers: {}, identity: socket.identity }
    const { headers, nonce } = await this.#forwarder.seal(place, request)
    const isSigned = (answer: IncomingMessage) =>
      this.#key.isResponse(nonce, 101, { [SIGNATURE_HEADER]: answer.headers[SIGNATURE_HEADER] })
    await relaySocket(socket, {
      url: `${address.replace(/^http/, 'ws')}/v1/ws`,
      headers,
      isSigned,
      clock: this.#options.clock,
    })
    return true
  }

  /** Makes a call here; if its run turns out to be elsewhere, where the run has gone meanwhile. */
  async #callOrFollow(call: RoutedCall<Identity>, identity: Identity): Promise<ToolResult> {
    const { onEvent } = call.options
    const held =
      onEvent &&
      ((event: CallEvent) => {
        if (event.type !== 'call-ended' || !isElsewhere(event.result)) onEvent(event)
      })
    const result = await callHere({ ...call, options: { ...call.options, ...(held && { onEvent: held }) } })
    if (!isElsewhere(result)) return result
    // Another process has opened the run in the meantime, or is about to; nothing was executed here.
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      this.#places.forget(call.options.run!)
      const there = await this.#callElsewhere(call, identity)
      if (there) return there
      await new Promise<void>((resolve) => this.#options.clock.after(attempt * RETRY_MS, resolve))
    }
    return result
  }

  /** Makes a call at the process that has its run; `undefined` if that is this one, or none. */
  async #callElsewhere(
    { tool, input, options }: RoutedCall<Identity>,
    identity: Identity,
  ): Promise<ToolResult | undefined> {
    const { signal, onEvent, ...further } = options
    const place = await this.#places.ofRun(options.run!)
    if (!place) return undefined
    const answer = await this.#send(place, {
      method: 'POST',
      path: `/v1/tools/${encodeURIComponent(tool)}/call`,
      headers: {
        host: 'localhost',
        accept: onEvent ? 'text/event-stream' : 'application/json',
        'content-type': 'application/json',
      },
      body: Buffer.from(JSON.stringify({ input, ...further })),
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

  /** Sends a request, once more if the run has moved; `undefined` if it is to be answered here. */
  async #send(place: Place, request: ForwardedRequest): Promise<ForwardedAnswer | undefined> {
    const { run = '' } = request
    const first = await this.#forwarder.send(place, request).catch((error) => {
      this.#places.forget(run)
      throw error
    })
    const moved = movedTo(first)
    if (!moved) return first
    this.#places.forget(run)
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
}

function callHere({ caller, tool, input, options }: RoutedCall<unknown>): Promise<ToolResult> {
  return caller.hub.callDynamic(tool, input, options)
}

function isElsewhere(result: ToolResult): boolean {
  return !result.ok && result.error.code === 'RUN_ELSEWHERE'
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
