import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { z } from 'zod'
import { type ServiceEvent, toolEvents } from '../../api/service.ts'
import type { Visitor } from '../../service.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { defineRoute, type Exchange, type Route } from '../route.ts'
import { EventStream } from '../stream/event-stream.ts'
import { ToolEvents } from '../stream/tool-events.ts'

const eventQuery = z.object({
  /** Id of the last event that is known, for those who cannot send `Last-Event-ID`. */
  after: z.string().max(100).optional(),
  /** Types of events, joined by commas; `tool.started`, `tool.completed` and `tool.failed` only come if named. Default: all others. */
  types: z.string().max(200).optional(),
})

const TYPES = [
  'call',
  'run',
  'approval',
  'question',
  'tools-changed',
  'policy-changed',
  'ability-changed',
  'presence',
  'reset',
] as const
/** Calls under other names, for those who ask for them. */
const TOOL_TYPES = Object.keys(toolEvents) as (keyof typeof toolEvents)[]
const ALL_TYPES: readonly ServiceEvent['type'][] = [...TYPES, ...TOOL_TYPES]
/** What those may hear who only answer. */
const ASKS: readonly ServiceEvent['type'][] = ['approval', 'question', 'ability-changed', 'presence', 'reset']
const STILL_ADMITTED_MS = 5_000
const RETRY_MS = 1_000

/** What happens, as it happens. */
export const EVENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/events',
    summary: 'What happens, as it happens; goes on after Last-Event-ID',
    admits: ['read', 'approve'],
    query: eventQuery,
    answers: [{ description: 'Events; event: is the type, data: the event', mediaType: 'text/event-stream' }],
    handle(exchange) {
      if (exchange.request.method === 'HEAD') {
        throw new HttpRefusal(405, 'INPUT_SCHEMA_INVALID', 'A stream has no head alone.', { headers: { allow: 'GET' } })
      }
      tell(exchange)
      return RESPONSE_ALREADY_SENT
    },
  }),
]

/** Tells events until the reader leaves, reads too slowly, is not let in any more, or the service closes. */
function tell({ door, visitor, admission, query, request, response }: Exchange<Visitor, z.output<typeof eventQuery>>) {
  const { service, streams, clock, maxWaitingBytes } = door
  const types = wantedTypes(visitor, query.types)
  const after = (request.headers['last-event-id'] as string | undefined) ?? query.after
  streams.check(visitor.name)
  const stream = new EventStream(response, { clock, maxWaitingBytes })
  streams.add(stream, visitor.name)
  stream.retryAfter(RETRY_MS)
  const mayAnswer = visitor.scopes.has('approve') && types.includes('approval')
  const leave = mayAnswer ? service.asks.attend(visitor) : () => {}
  const wantsTools = TOOL_TYPES.some((type) => types.includes(type))
  const tools = wantsTools ? new ToolEvents() : undefined
  const stop = service.feed.subscribe(
    (event, id) => {
      if (!stream.isOpen) return
      const told = [event, ...(event.type === 'call' ? (tools?.of(event.call) ?? []) : [])].filter(
        ({ type }) => type === 'reset' || types.includes(type),
      )
      for (const [index, each] of told.entries()) {
        // A client that reconnects continues after the last event with an id, so never between two that belong together.
        stream.send(each.type, shownTo(visitor, each), index === told.length - 1 ? id : undefined)
      }
      // It comes again and goes on after the last that it has read.
      if (stream.isFull) stream.endSoon()
    },
    { ...(after && { after }), types: tools ? [...types, 'call'] : types },
  )
  let cancelCheck = () => {}
  const checkLater = () => {
    cancelCheck = clock.after(STILL_ADMITTED_MS, check, { background: true })
  }
  const check = async () => {
    const holds = await Promise.resolve(admission.holds()).catch(() => false)
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

/** What waits, as this one may answer it: nobody answers for their own calls. */
function shownTo({ name, scopes }: Visitor, event: ServiceEvent): ServiceEvent {
  if (event.type !== 'approval' && event.type !== 'question') return event
  const mayAnswer = (mine: { readonly mayAnswer: boolean }) => mine.mayAnswer && scopes.has('approve')
  if (event.type === 'question') {
    return { ...event, question: { ...event.question, mayAnswer: mayAnswer(event.question) } }
  }
  const { approval } = event
  return { ...event, approval: { ...approval, mayAnswer: mayAnswer(approval) && approval.caller !== name } }
}

function wantedTypes({ scopes }: Visitor, asked: string | undefined): readonly ServiceEvent['type'][] {
  if (asked === undefined) return scopes.has('read') ? TYPES : ASKS
  const named = asked.split(',')
  const unknown = named.find((type) => !ALL_TYPES.some((known) => known === type))
  if (unknown === undefined) {
    const offered = scopes.has('read') ? ALL_TYPES : ASKS
    return offered.filter((type) => type === 'reset' || named.includes(type))
  }
  throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `query.types: no event is ${JSON.stringify(unknown)}.`, {
    hint: `Use some of ${ALL_TYPES.join(', ')}.`,
  })
}
