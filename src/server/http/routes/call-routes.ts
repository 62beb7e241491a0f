import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { z } from 'zod'
import type { CallEvent, CallOptions, Clock } from '../../../core/index.ts'
import { callDetail, callList, callQuery, callRequest, hasKey, toolResult } from '../../../protocol/index.ts'
import type { Caller } from '../../service.ts'
import { API_HEADERS, answerJson, HttpRefusal, refuseOn } from '../answers.ts'
import { EventStream } from '../event-stream.ts'
import { socketSignal } from '../request.ts'
import { defineRoute, type Exchange, type Route } from '../route.ts'

const MAX_KEY_LENGTH = 512
const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }
/** Proxies in front of the service must not buffer the spaces that keep the connection alive. */
const EARLY_HEADERS = { ...HEADERS, 'x-accel-buffering': 'no' }
const BEAT_MS = 15_000

/** Calls of tools, and the calls on record. */
export const CALL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/v1/tools/{name}/call',
    summary: 'Calls a tool, by its canonical name or by the name that models use',
    allow: ['call'],
    body: callRequest,
    isCall: true,
    answers: [
      { description: 'The result of the call; 200 also for one that was refused or failed', schema: toolResult },
      {
        description: 'With Accept: text/event-stream: the events of the call, the last is call-ended',
        mediaType: 'text/event-stream',
      },
    ],
    async handle(exchange) {
      await answerCall(exchange)
      return RESPONSE_ALREADY_SENT
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/calls',
    summary: 'Calls of every run, newest first',
    allow: ['read'],
    query: callQuery,
    answers: [{ description: 'A page of calls', schema: callList }],
    handle: async ({ context, query }) => answerJson(await context.service.history.calls(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/calls/{callId}',
    summary: 'One call with its lines in the record',
    allow: ['read'],
    answers: [{ description: 'The call', schema: callDetail }],
    handle: async ({ context, params }) => answerJson(await context.service.history.call(params.get('callId')!)),
  }),
]

/**
 * Makes a call and writes its result to Node's own response, because a call that waits for a person is kept alive there.
 * A client that disconnects stops its call, unless the call has an idempotency key: then it continues, and the next call
 * with that key gets its result. An approval that the call waited for stays.
 */
async function answerCall(exchange: CallExchange): Promise<void> {
  const { context, caller, params, request, response } = exchange
  try {
    const name = params.get('name')!
    const wanted = toCall(exchange.body, request.headers['idempotency-key'] as string | undefined)
    if (wantsStream(request.headers.accept)) return await streamCall(exchange, name, wanted)
    await nextTurn()
    const answer = new WaitingAnswer(response, context.clock)
    try {
      answer.send(JSON.stringify(await call(caller, name, wanted, request)))
    } finally {
      answer.stop()
    }
  } catch (error) {
    refuseOn(response, error, context.report)
  }
}

let turn: Promise<void> | undefined

/**
 * Lets the calls that arrive in one turn of the event loop start together, so that one write to the record serves all of
 * them: twice as many calls a second with 64 in flight. A single call waits only for the rest of the turn.
 */
function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}

/** Makes the call, aborted when its client disconnects. */
function call(caller: Caller, name: string, wanted: WantedCall, { socket }: IncomingMessage) {
  const { input, options, survivesClient } = wanted
  if (survivesClient) return caller.hub.callDynamic(name, input, options)
  return caller.hub.callDynamic(name, input, { ...options, signal: socketSignal(socket) })
}

function wantsStream(accept: string | undefined): boolean {
  return accept?.includes('text/event-stream') === true
}

/**
 * Sends the events of a call as they happen; the last is `call-ended`. Progress that a slow reader has no room for is
 * left out, so it never delays the call; the end is always sent.
 */
async function streamCall(
  { context: { clock, maxWaitingBytes }, caller, request: { socket }, response }: CallExchange,
  name: string,
  { input, options, survivesClient }: WantedCall,
): Promise<void> {
  const stream = new EventStream(response, { clock, maxWaitingBytes })
  let hasEnded = false
  const onEvent = (event: CallEvent) => {
    if (event.type === 'call-progressed' && stream.isFull) return
    hasEnded ||= event.type === 'call-ended'
    stream.send(event.type, event)
  }
  const signal = survivesClient ? undefined : socketSignal(socket)
  const result = await caller.hub.callDynamic(name, input, { ...options, onEvent, signal })
  if (!hasEnded) stream.send('call-ended', { type: 'call-ended', callId: result.callId, result })
  stream.end()
}

/**
 * The JSON response to a call that may wait for a person. A result that is ready soon is sent whole, with its length.
 * Otherwise the headers are sent after 15 s and a space every 15 s, which JSON allows before a value, so that neither
 * the client (Node's fetch ends a request without headers after 300 s) nor a proxy gives up.
 */
class WaitingAnswer {
  readonly #response: ServerResponse
  readonly #clock: Clock
  #cancelBeat: () => void = () => {}

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response
    this.#clock = clock
    this.#beatLater()
  }

  send(json: string): void {
    this.stop()
    if (!this.#response.headersSent)
      this.#response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(json) })
    this.#response.end(json)
  }

  stop(): void {
    this.#cancelBeat()
  }

  #beatLater(): void {
    this.#cancelBeat = this.#clock.after(BEAT_MS, () => this.#beat(), { background: true })
  }

  #beat(): void {
    if (this.#response.destroyed) return
    if (!this.#response.headersSent) this.#response.writeHead(200, EARLY_HEADERS)
    this.#response.write(' ')
    this.#beatLater()
  }
}

type CallExchange = Exchange<Caller, unknown, z.output<typeof callRequest>>

/** A call as the client wants it. */
interface WantedCall {
  readonly input: unknown
  readonly options: CallOptions
  /** Repeated with the same key it returns the same result, so it continues without its client. */
  readonly survivesClient: boolean
}

function toCall({ input, ...given }: z.output<typeof callRequest>, keyHeader: string | undefined): WantedCall {
  const options = { ...given, idempotencyKey: readKey(keyHeader, given.idempotencyKey) }
  return { input, options, survivesClient: hasKey(options) }
}

function readKey(header: string | undefined, inBody: string | undefined): string | undefined {
  if (header === undefined) return inBody
  if (header === '' || header.length > MAX_KEY_LENGTH) {
    throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `An Idempotency-Key has 1 to ${MAX_KEY_LENGTH} characters.`)
  }
  if (inBody === undefined || inBody === header) return header
  throw new HttpRefusal(
    400,
    'INPUT_SCHEMA_INVALID',
    'The Idempotency-Key header and idempotencyKey of the body differ.',
    {
      hint: 'Send one of them.',
    },
  )
}
