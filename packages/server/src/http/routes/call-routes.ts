import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { CallEvent, Clock, ToolResult } from '@tool-hub/core'
import { callDetail, callList, callQuery, callRequest, hasKey, toolResult } from '@tool-hub/core/protocol'
import type { z } from 'zod'
import type { Identity } from '../../auth/authenticator.ts'
import type { Caller } from '../../auth/caller.ts'
import type { RoutedCall } from '../../call-router.ts'
import { API_HEADERS, answerJson, HttpRefusal, refuseOn } from '../answers.ts'
import { EventStream } from '../event-stream.ts'
import { socketSignal } from '../request.ts'
import { defineRoute, type Exchange, type Route } from '../route.ts'

const MAX_KEY_LENGTH = 512
const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }
/** Proxies in front of the service must not buffer the spaces that keep the connection alive. */
const EARLY_HEADERS = { ...HEADERS, 'x-accel-buffering': 'no' }
const BEAT_MS = 15_000

/** The route that calls a tool. `createHttpApp` serves it, with `calledTool`. */
export const CALL_ROUTE: Route = defineRoute({
  method: 'post',
  path: '/v1/tools/{name}/call',
  summary: 'Calls a tool, by its canonical name or by the name that models use',
  allow: ['call'],
  body: callRequest,
  concerns: ({ body: { run } }) => (run === undefined ? undefined : { run }),
  isCall: true,
  answers: [
    { description: 'The result of the call; 200 also for one that was refused or failed', schema: toolResult },
    {
      description: 'With Accept: text/event-stream: the events of the call, the last is call-ended',
      mediaType: 'text/event-stream',
    },
  ],
  handle: answerCall,
})

const CALL_PATH = /^\/v1\/tools\/([^/?]+)\/call(?:\?|$)/

/** Returns the name of the tool that a request calls, `undefined` for other requests. */
export function calledTool({ method, url = '' }: IncomingMessage): string | undefined {
  if (method !== 'POST' || !url.startsWith('/v1/tools/')) return undefined
  const name = CALL_PATH.exec(url)?.[1]
  return name?.includes('%') ? decode(name) : name
}

/** A name that cannot be decoded is not a tool name. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Calls of tools, and the calls on record. */
export const CALL_ROUTES: readonly Route[] = [
  CALL_ROUTE,
  defineRoute({
    method: 'get',
    path: '/v1/calls',
    client: { name: 'calls.list', note: "`status: 'failed'` is every kind of failure." },
    summary: 'Calls of every run, newest first',
    allow: ['read'],
    query: callQuery,
    answers: [{ description: 'A page of calls', schema: callList }],
    handle: async ({ context, query }) => answerJson(await context.service.history.calls(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/calls/{callId}',
    client: { name: 'calls.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'One call with its lines in the record',
    allow: ['read'],
    answers: [{ description: 'The call', schema: callDetail }],
    async concerns({ context, param }) {
      const call = await context.service.store.calls.call(param('callId'))
      return call && { run: call.run }
    },
    handle: async ({ context, param }) => answerJson(await context.service.history.call(param('callId'))),
  }),
]

/**
 * Makes a call and writes its result to Node's own response, because a call that waits for a person is kept alive there.
 * A client that disconnects stops its call, unless the call has an idempotency key: then it continues, and the next call
 * with that key gets its result. An approval that the call waited for stays.
 */
async function answerCall(exchange: CallExchange): Promise<Response> {
  const { context, request, response } = exchange
  try {
    const call = toCall(exchange)
    if (request.headers.accept?.includes('text/event-stream')) await streamCall(exchange, call)
    else {
      await nextTurn()
      await sendResult(response, context.clock, context.router.call(call))
    }
  } catch (error) {
    refuseOn(response, error, context.report)
  }
  return RESPONSE_ALREADY_SENT
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

/**
 * Sends the events of a call as they happen; the last is `call-ended`. Progress that a slow reader has no room for is
 * left out, so it never delays the call; the end is always sent.
 */
async function streamCall({ context, response }: CallExchange, call: RoutedCall<Identity>): Promise<void> {
  const { clock, maxWaitingBytes, router } = context
  const stream = new EventStream(response, { clock, maxWaitingBytes })
  let hasEnded = false
  const onEvent = (event: CallEvent) => {
    if (event.type === 'call-progressed' && stream.isFull) return
    hasEnded ||= event.type === 'call-ended'
    stream.send(event.type, event)
  }
  const result = await router.call({ ...call, options: { ...call.options, onEvent } })
  if (!hasEnded) stream.send('call-ended', { type: 'call-ended', callId: result.callId, result })
  stream.end()
}

/**
 * Sends the JSON response to a call that may wait for a person. A result that is ready soon is sent whole, with its
 * length. Otherwise the headers are sent after 15 s and a space every 15 s, which JSON allows before a value, so that
 * neither the client (Node's fetch ends a request without headers after 300 s) nor a proxy gives up.
 */
async function sendResult(response: ServerResponse, clock: Clock, call: Promise<ToolResult>): Promise<void> {
  let cancelBeat = clock.after(BEAT_MS, beat, { background: true })
  function beat(): void {
    if (response.destroyed) return
    if (!response.headersSent) response.writeHead(200, EARLY_HEADERS)
    response.write(' ')
    cancelBeat = clock.after(BEAT_MS, beat, { background: true })
  }
  try {
    const json = JSON.stringify(await call)
    if (!response.headersSent) response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(json) })
    response.end(json)
  } finally {
    cancelBeat()
  }
}

type CallExchange = Exchange<Caller, unknown, CallRequest>
type CallRequest = z.output<typeof callRequest>

/** A call without a key is aborted when its client disconnects. One with a key returns the same result when repeated. */
function toCall({ caller, identity, param, body: { input, ...given }, request }: CallExchange): RoutedCall<Identity> {
  const options: Omit<CallRequest, 'input'> & { signal?: AbortSignal } = given
  options.idempotencyKey = readKey(request.headers['idempotency-key'] as string | undefined, given.idempotencyKey)
  if (!hasKey(options)) options.signal = socketSignal(request.socket)
  return { caller, identity, tool: param('name'), input, options, request }
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
