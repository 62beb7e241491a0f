import type { CallEnded, CallStarted, RecordEvent } from '../record/events.ts'
import { count } from './count.ts'
import { escapeLine } from './escape-text.ts'
import { style } from './terminal.ts'

/** The whole of every field is in the event itself. */
const LONGEST_PART = 120

/** Tells the events of a run, a line each; what a call did through other calls stands indented below it. */
export class Timeline {
  readonly #depths = new Map<string, number>()

  line(event: RecordEvent): string {
    const depth = this.#depthOf(event)
    const time = style('dim', String(event.time).slice(11, 23))
    return `${time}  ${'  '.repeat(depth)}${describe(event)}`
  }

  #depthOf(event: RecordEvent): number {
    if (!('callId' in event) || event.callId === undefined) return 0
    const parent = 'parent' in event && event.parent !== undefined ? this.#depths.get(event.parent) : undefined
    const depth = this.#depths.get(event.callId) ?? (parent === undefined ? 0 : parent + 1)
    if (event.type === 'call-started') this.#depths.set(event.callId, depth)
    if (event.type === 'call-ended' || event.type === 'call-interrupted') this.#depths.delete(event.callId)
    return depth
  }
}

function describe(event: RecordEvent): string {
  switch (event.type) {
    case 'call-started':
      return words('start', 'cyan', event.tool, argumentsOf(event), event.rule && `by ${event.rule}`)
    case 'call-ended':
      return describeEnd(event)
    case 'call-interrupted':
      return words('interrupted', 'red', event.tool, 'the process went away; its effects are unknown')
    case 'call-late':
      return words('late', 'yellow', event.tool, `ended ${event.ok ? 'well' : 'badly'} after it had been left behind`)
    case 'approval-requested':
      return words('asked', 'yellow', event.tool, `by ${event.rule}`)
    case 'approval-answered':
      return words(
        event.decision,
        event.decision === 'allow' ? 'green' : 'red',
        event.tool,
        event.by && `by ${event.by}`,
        event.reason,
      )
    case 'run-opened':
      return words('opened', 'dim', event.run, `process ${event.pid}`)
    case 'run-closed':
      return words('closed', 'dim', `${count(event.calls, 'call')}, ${event.failures} failed`)
    default:
      return words(event.type, 'yellow', JSON.stringify(withoutChain(event)))
  }
}

function describeEnd(event: CallEnded): string {
  const { status, tool, durationMs, error, summary, rule, approvedBy } = event
  const outcome = error ? `${error.code}: ${error.message}` : summary
  return words(
    status,
    status === 'ok' ? 'green' : 'red',
    tool,
    `${Math.round(durationMs)} ms`,
    outcome,
    rule && `by ${rule}`,
    approvedBy && `approved by ${approvedBy}`,
  )
}

function words(
  mark: string,
  colour: 'cyan' | 'green' | 'red' | 'yellow' | 'dim',
  ...parts: (string | undefined)[]
): string {
  return [style(colour, escapeLine(mark).padEnd(7)), ...parts.filter(Boolean).map(shorten)].join('  ')
}

/** Records can have been tampered with: whatever stands there becomes a short, harmless text. */
function shorten(part: unknown): string {
  const text = escapeLine(String(part))
  return text.length <= LONGEST_PART ? text : `${text.slice(0, LONGEST_PART)}…`
}

function argumentsOf({ args, argsBytes }: CallStarted): string | undefined {
  if (args !== undefined) return JSON.stringify(args)
  return argsBytes === undefined ? undefined : `${argsBytes} bytes of arguments`
}

function withoutChain({ seq: _seq, time: _time, prev: _prev, hash: _hash, type: _type, ...rest }: RecordEvent) {
  return rest
}
