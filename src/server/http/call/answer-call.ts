import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallEvent, CallOptions, Clock } from '../../../core/index.ts'
import { isPlainObject } from '../../../lib/index.ts'
import { callRequest, hasKey } from '../../../protocol/index.ts'
import { requireScope } from '../../auth/require-scope.ts'
import type { Caller } from '../../service.ts'
import { errorAnswer } from '../answer/error-answer.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { API_HEADERS } from '../answer/security-headers.ts'
import { admit } from '../authenticate.ts'
import type { HttpContext } from '../http-context.ts'
import { discardBody, readJson } from '../read-body.ts'
import { schemaRefusal } from '../schema-refusal.ts'
import { EventStream } from '../stream/event-stream.ts'
import { socketSignal } from './socket-signal.ts'

const PLAIN: CallOptions = {}

const MAX_KEY_LENGTH = 512

const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }

/** Proxies in front of the service must not collect what keeps the connection alive. */
const EARLY_HEADERS = { ...HEADERS, 'x-accel-buffering': 'no' }

const BEAT_MS = 15_000

/**
 * `POST /v1/tools/{name}/call`, on Node's own request and response: the road that must be fast. 200 for every call that
 * took the road, whatever came of it. A client that goes away stops its call, unless the call has an idempotency key:
 * then it continues, and the next call with that key gets its result. An approval that the call waited for stays.
 */
export async function answerCall(
  door: HttpContext,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { caller } = await admit(door.authenticator, request)
    requireScope(caller, 'call')
    const body = await readJson(request, door.callLimits)
    const wanted = readCall(body, request.headers['idempotency-key'] as string | undefined)
    if (wantsStream(request.headers.accept)) return await streamCall(door, caller, name, wanted, request, response)
    await door.turns.next()
    const answer = new WaitingAnswer(response, door.clock)
    try {
      answer.send(JSON.stringify(await call(caller, name, wanted, request)))
    } finally {
      answer.stop()
    }
  } catch (error) {
    refuseOn(response, error, door.report)
    discardBody(request)
  }
}

/** Answers on a response of Node what went wrong; cuts off when the answer had begun. */
export function refuseOn(response: ServerResponse, error: unknown, report: (error: unknown) => void): void {
  const { status, headers, body } = errorAnswer(error, report)
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Makes the call for as long as its client is there. */
function call(caller: Caller, name: string, wanted: WantedCall, { socket }: IncomingMessage) {
  const { input, options, survivesClient } = wanted
  if (survivesClient) return caller.hub.callDynamic(name, input, options)
  return caller.hub.callDynamic(name, input, { ...options, signal: socketSignal(socket) })
}

function wantsStream(accept: string | undefined): boolean {
  return accept?.includes('text/event-stream') === true
}

/**
 * Tells a call's events as they happen; the last is `call-ended`. Progress that a slow reader has no room for is left
 * out: it never holds up the call, and its end always comes.
 */
async function streamCall(
  { clock, maxWaitingBytes }: HttpContext,
  caller: Caller,
  name: string,
  { input, options, survivesClient }: WantedCall,
  { socket }: IncomingMessage,
  response: ServerResponse,
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
 * The JSON answer to a call that may wait for a person. One that is ready soon is sent whole, with its length. Otherwise
 * the headers are sent after 15 s and a space every 15 s, which JSON allows before a value: then neither the client (Node's
 * fetch ends a request without headers after 300 s) nor a proxy gives up.
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

/** What a client wants called, and how. */
interface WantedCall {
  readonly input: unknown
  readonly options: CallOptions
  /** Made again with the same key it gives the same result, so it goes on when the client is gone. */
  readonly survivesClient: boolean
}

/** Reads the body of a call. Most have nothing but `input`, for which the schema need not be asked. */
function readCall(body: unknown, keyHeader: string | undefined): WantedCall {
  if (keyHeader === undefined && isOnlyInput(body)) return { input: body.input, options: PLAIN, survivesClient: false }
  const parsed = callRequest.safeParse(body)
  if (!parsed.success) throw schemaRefusal('body', parsed.error)
  const { input, ...said } = parsed.data
  const idempotencyKey = readKey(keyHeader, said.idempotencyKey)
  const options = { ...said, idempotencyKey }
  return { input, options, survivesClient: hasKey(options) }
}

function isOnlyInput(body: unknown): body is { readonly input: unknown } {
  if (!isPlainObject(body) || !Object.hasOwn(body, 'input')) return false
  for (const key in body) if (key !== 'input') return false
  return true
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
