import type { IndexedCall } from '@tool-hub/core'
import type { CallEnded, CallInterrupted, CallStarted, EventBody, RecordedLine } from '../../records/log/index.ts'

const MAX_TEXT_CHARS = 500
const MAX_TARGETS = 20

/**
 * Returns the index entry of the call that a record line is about, or `undefined` for other lines. `started` is the
 * entry of its start.
 */
export function indexLine(
  line: Pick<RecordedLine, 'run' | 'seq' | 'time' | 'event'>,
  started?: IndexedCall,
): IndexedCall | undefined {
  const { event } = line
  if (!isAboutCall(event) || typeof event.callId !== 'string') return undefined
  if (event.type === 'call-started') return startOf(line, event)
  return event.type === 'call-ended' ? endOf(line, event, started) : interruptedAt(line, event, started)
}

/** Returns whether the entry needs the start of the call: an end repeats the facts only if no start was recorded. */
export function needsStart(event: EventBody): event is CallEnded | CallInterrupted {
  if (event.type === 'call-interrupted') return true
  return event.type === 'call-ended' && event.caller === undefined
}

type AboutCall = CallStarted | CallEnded | CallInterrupted
type Line = Pick<RecordedLine, 'run' | 'seq' | 'time'>

function isAboutCall(event: EventBody): event is AboutCall {
  return event.type === 'call-ended' || event.type === 'call-started' || event.type === 'call-interrupted'
}

function startOf({ run, seq, time }: Line, event: CallStarted): IndexedCall {
  const facts = factsOf(event)
  return whole(event, { run, seq, status: 'running', startedAt: milliseconds(time) }, facts)
}

function endOf({ run, seq, time }: Line, event: CallEnded, started: IndexedCall | undefined): IndexedCall {
  const durationMs = typeof event.durationMs === 'number' ? event.durationMs : 0
  const status = text(event.status) ?? 'error'
  // The start may be recorded late, after an approval; the duration counts from the real start.
  const startedAt = Math.round(milliseconds(time) - durationMs)
  const place = started
    ? { run, seq: started.seq, status, startedAt: Math.min(started.startedAt, startedAt) }
    : { run, seq, status, startedAt }
  const call = whole(event, place, started ?? factsOf(event))
  const waitedMs = typeof event.waitedMs === 'number' ? event.waitedMs : 0
  // Waiting for people does not count as duration.
  call.durationMs = Math.max(0, durationMs - waitedMs)
  call.attempts = typeof event.attempts === 'number' && event.attempts > 1 ? event.attempts : undefined
  call.error = text(event.error?.code)
  call.summary = text(event.summary)
  call.approvedBy = text(event.approvedBy)
  return call
}

function interruptedAt(line: Line, event: CallInterrupted, started: IndexedCall | undefined): IndexedCall {
  const { run, seq, time } = line
  const place = { run, seq: started?.seq ?? seq, startedAt: started?.startedAt ?? milliseconds(time) }
  return whole(event, { ...place, status: 'interrupted' }, started ?? { caller: '' })
}

type Facts = Pick<
  IndexedCall,
  'caller' | 'principal' | 'parent' | 'effect' | 'rule' | 'targets' | 'purpose' | 'request'
>
type Growing = { -readonly [K in keyof IndexedCall]: IndexedCall[K] }

/** Sets all fields in one order, absent ones to `undefined`: one object shape for all calls is fastest. */
function whole(
  { callId, tool }: AboutCall,
  { run, seq, status, startedAt }: Pick<IndexedCall, 'run' | 'seq' | 'status' | 'startedAt'>,
  { caller, principal, parent, effect, rule, targets, purpose, request }: Facts,
): Growing {
  return {
    callId,
    run,
    seq,
    tool: text(tool) ?? '',
    caller,
    principal,
    parent,
    status,
    startedAt,
    durationMs: undefined,
    attempts: undefined,
    effect,
    rule,
    error: undefined,
    summary: undefined,
    targets,
    approvedBy: undefined,
    purpose,
    request,
  }
}

function factsOf(event: CallStarted | CallEnded): Facts {
  const targets = Array.isArray(event.targets)
    ? event.targets.slice(0, MAX_TARGETS).map((target) => text(target) ?? '')
    : undefined
  return {
    caller: text(event.caller) ?? '',
    principal: text(event.principal),
    parent: text(event.parent),
    effect: text(event.effect),
    rule: text(event.rule),
    purpose: text(event.purpose),
    targets,
    request: requestLine(event.args, targets),
  }
}

/** Record files may have been modified by others, so only strings of bounded length get into the index. */
function text(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  return value.length <= MAX_TEXT_CHARS ? value : `${value.slice(0, MAX_TEXT_CHARS)}…`
}

let lastTime = ''
let lastMilliseconds = 0

/** Caches the last parsed time: many calls end in the same millisecond, and parsing costs as much as the rest. */
function milliseconds(time: string): number {
  if (time === lastTime) return lastMilliseconds
  const at = Date.parse(time)
  lastTime = time
  lastMilliseconds = Number.isNaN(at) ? 0 : at
  return lastMilliseconds
}

/** The arguments that describe what a call requests, the most descriptive first. */
const DESCRIPTIVE =
  'command url path query pattern question task expression ref name key title text content message prompt'.split(' ')
const MAX_CHARS = 300
const MAX_NAMED_TARGETS = 3

/**
 * Describes what a call requests in one line: its command, URL, path or query, else its targets, else its first argument.
 * `args` are the redacted arguments of the record, or `undefined` if they were too large to record.
 */
export function requestLine(args: unknown, targets: readonly string[] = []): string | undefined {
  const given = typeof args === 'object' && args !== null ? Object.entries(args) : []
  const texts = new Map(given.flatMap(([name, value]) => (isTelling(value) ? [[name, asText(value)] as const] : [])))
  const [from, to] = [texts.get('from'), texts.get('to')]
  if (from !== undefined && to !== undefined) return asLine(`${from} → ${to}`)
  const described = [texts.get('argv'), ...DESCRIPTIVE.map((name) => texts.get(name))].find(
    (text) => text !== undefined,
  )
  const first = described ?? (touched(targets) || texts.values().next().value)
  return first === undefined ? undefined : asLine(first)
}

function isTelling(value: unknown): value is string | string[] {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => typeof each === 'string')
  return typeof value === 'string' && value !== ''
}

function asText(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(' ')
}

/** Lists targets without their capabilities: `read:fs /a` and `write:fs /a` are one file. */
function touched(targets: readonly string[]): string {
  const names = [...new Set(targets.map((target) => target.slice(target.indexOf(' ') + 1)))]
  const more = names.length - MAX_NAMED_TARGETS
  return names.slice(0, MAX_NAMED_TARGETS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function asLine(text: string): string {
  const line = text
    .slice(0, MAX_CHARS * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > MAX_CHARS || text.length > MAX_CHARS * 2 ? `${line.slice(0, MAX_CHARS)}…` : line
}
