import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { wasExecuted } from '@tool-hub/adapters'
import { type CallEntry, type ServiceEvent, toolEvents } from '@tool-hub/core/protocol'
import { z } from 'zod'
import { eventFor } from '../../approvals/approval-views.ts'
import type { Caller } from '../../auth/caller.ts'
import { HttpRefusal } from '../answers.ts'
import { EventStream } from '../event-stream.ts'
import { defineRoute, type Exchange, type Route } from '../route.ts'

/** Calls in progress that one stream remembers; the start of an older one may be sent twice. */
const MAX_STARTED = 10_000

const SUCCESSES: ReadonlySet<string> = new Set(['ok', 'pending', 'running'])

const eventQuery = z.object({
  /** Id of the last event that the client has, if it cannot send `Last-Event-ID`. */
  after: z.string().max(100).optional(),
  /** Types of events, joined by commas. Default: all but `tool.started`, `tool.completed` and `tool.failed`. */
  types: z.string().max(200).optional(),
})

const TYPES = [
  'call',
  'run',
  'approval',
  'question',
  'tools-changed',
  'policy-changed',
  'feature-changed',
  'presence',
  'reset',
] as const
/** Calls as `tool.*` events, sent only if requested. */
const TOOL_TYPES = Object.keys(toolEvents) as (keyof typeof toolEvents)[]
const ALL_TYPES: readonly ServiceEvent['type'][] = [...TYPES, ...TOOL_TYPES]
/** The types for callers that may only answer. */
const ANSWERER_TYPES: readonly ServiceEvent['type'][] = ['approval', 'question', 'feature-changed', 'presence', 'reset']
const STILL_ADMITTED_MS = 5_000
const RETRY_MS = 1_000

/** The event stream. */
export const EVENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/events',
    summary: 'The events of the service; continues after Last-Event-ID',
    allow: ['read', 'approve'],
    query: eventQuery,
    answers: [{ description: 'Events; event: is the type, data: the event', mediaType: 'text/event-stream' }],
    handle(exchange) {
      if (exchange.request.method === 'HEAD') {
        throw new HttpRefusal(405, 'INPUT_SCHEMA_INVALID', 'A stream has no head alone.', { headers: { allow: 'GET' } })
      }
      sendEvents(exchange)
      return RESPONSE_ALREADY_SENT
    },
  }),
]

/** Sends events until the client disconnects, reads too slowly or is no longer authenticated, or the service closes. */
function sendEvents({
  context,
  caller,
  identity,
  query,
  request,
  response,
}: Exchange<Caller, z.output<typeof eventQuery>>) {
  const { service, streams, clock, maxWaitingBytes } = context
  const types = wantedTypes(caller, query.types)
  const after = (request.headers['last-event-id'] as string | undefined) ?? query.after
  streams.check(caller.name)
  const stream = new EventStream(response, { clock, maxWaitingBytes })
  streams.add(stream, caller)
  stream.retryAfter(RETRY_MS)
  const mayAnswer = caller.scopes.has('approve') && types.includes('approval')
  const leave = mayAnswer ? service.approvals.attend(caller) : () => {}
  const wantsTools = TOOL_TYPES.some((type) => types.includes(type))
  const tools = wantsTools ? new ToolEvents() : undefined
  const stop = service.events.subscribe(
    (event, id) => {
      if (!stream.isOpen) return
      const sent = [event, ...(event.type === 'call' ? (tools?.of(event.call) ?? []) : [])].filter(
        ({ type }) => type === 'reset' || types.includes(type),
      )
      for (const [index, each] of sent.entries()) {
        // A client that reconnects continues after the last event with an id, so never between two that belong
        // together.
        stream.send(each.type, eventFor(caller, each), index === sent.length - 1 ? id : undefined)
      }
      // The client reconnects and continues after the last event that it has read.
      if (stream.isFull) stream.endSoon()
    },
    { after: after || undefined, types: tools ? [...types, 'call'] : types },
  )
  let cancelCheck = () => {}
  const checkLater = () => {
    cancelCheck = clock.after(STILL_ADMITTED_MS, check, { background: true })
  }
  const check = async () => {
    const holds = await Promise.resolve(identity.holds()).catch(() => false)
    if (!stream.isOpen) return
    if (holds) checkLater()
    else stream.end()
  }
  checkLater()
  response.once('close', () => {
    cancelCheck()
    stop()
    leave()
    streams.remove(stream)
  })
}

function wantedTypes({ scopes }: Caller, asked: string | undefined): readonly ServiceEvent['type'][] {
  if (asked === undefined) return scopes.has('read') ? TYPES : ANSWERER_TYPES
  // The old name is accepted until the next version.
  const named = asked.split(',').map((type) => (type === 'ability-changed' ? 'feature-changed' : type))
  const unknown = named.find((type) => !ALL_TYPES.some((known) => known === type))
  if (unknown === undefined) {
    const offered = scopes.has('read') ? ALL_TYPES : ANSWERER_TYPES
    return offered.filter((type) => type === 'reset' || named.includes(type))
  }
  throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `query.types: no event is ${JSON.stringify(unknown)}.`, {
    hint: `Use some of ${ALL_TYPES.join(', ')}.`,
  })
}

/** Calls as `tool.started`, `tool.completed` and `tool.failed`. */
type ToolServiceEvent = Extract<ServiceEvent, { type: `tool.${string}` }>

/**
 * The `tool.*` events of one stream. A quick call is indexed once, when it has ended; its start is sent together with
 * its end.
 */
export class ToolEvents {
  readonly #started = new Set<string>()

  of(call: CallEntry): readonly ToolServiceEvent[] {
    // The index has `running` for a call without an end; a tool whose work continues has a duration.
    if (call.durationMs === undefined && call.status === 'running') {
      this.#remember(call.callId)
      return [startOf(call)]
    }
    const wasSent = this.#started.delete(call.callId)
    const { status, effect, approvedBy, error: code } = call
    const isStart = !wasSent && status !== 'interrupted' && wasExecuted({ status, effect, approvedBy, code })
    return isStart ? [startOf(call), endOf(call)] : [endOf(call)]
  }

  #remember(callId: string): void {
    this.#started.add(callId)
    if (this.#started.size <= MAX_STARTED) return
    const [oldest] = this.#started
    this.#started.delete(oldest!)
  }
}

function startOf({ callId, tool, run, startedAt }: CallEntry): ToolServiceEvent {
  return { type: 'tool.started', callId, tool, run, time: timeOf(startedAt) }
}

function endOf(call: CallEntry): ToolServiceEvent {
  const { callId, tool, run, startedAt, durationMs, status, summary = '', error } = call
  const attempts = status === 'interrupted' ? undefined : (call.attempts ?? 1)
  const end = { callId, tool, run, time: timeOf(startedAt + (durationMs ?? 0)), status, durationMs, attempts, summary }
  if (SUCCESSES.has(status)) return { type: 'tool.completed', ...end }
  return { type: 'tool.failed', ...end, error: { code: error ?? 'ABORTED', message: summary } }
}

/** A record may have been tampered with: an invalid time becomes 1970. */
function timeOf(ms: number): string {
  return new Date(Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString()
}
