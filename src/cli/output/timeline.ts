import { escapeLine } from '../../escape-text.ts'
import type { CallEnded, CallStarted, RecordEvent } from '../../record/events.ts'
import { count } from './count.ts'
import { fitLine, lineWidth, widthOf } from './fit-line.ts'
import { style } from './terminal.ts'

/** The whole of every field is in the event itself. */
const LONGEST_PART = 120
/** Shorter than this a part says nothing. */
const SHORTEST_PART = 24

/**
 * Tells the events of a run, a line each. What a call did through other calls stands indented: below its start, or, of a
 * call that came back at once and has none, above its end.
 */
export class Timeline {
  readonly #depths = new Map<string, number>()
  readonly #indent: string

  constructor({ indent = 0 }: { readonly indent?: number } = {}) {
    this.#indent = ' '.repeat(indent)
  }

  line(event: RecordEvent): string {
    const time = style('dim', escapeLine(String(event.time).slice(11, 23)))
    const start = `${this.#indent}${time}  ${'  '.repeat(this.#depthOf(event))}`
    const [mark, ...parts] = describe(event)
    return fitLine([`${start}${mark}`, ...shrink(parts, widthOf(`${start}${mark}`))].join('  '))
  }

  #depthOf(event: RecordEvent): number {
    if (!('callId' in event) || event.callId === undefined) return 0
    const depth = this.#depths.get(event.callId) ?? this.#depthBelow('parent' in event ? event.parent : undefined)
    if (event.type === 'call-started') this.#depths.set(event.callId, depth)
    if (event.type === 'call-ended' || event.type === 'call-interrupted') this.#depths.delete(event.callId)
    return depth
  }

  /** A parent without a start has not been told yet: it is taken for an outermost one. */
  #depthBelow(parent: string | undefined): number {
    return parent === undefined ? 0 : (this.#depths.get(parent) ?? 0) + 1
  }
}

/** The mark of an event, then what there is to say. */
function describe(event: RecordEvent): string[] {
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

function describeEnd(event: CallEnded): string[] {
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
): string[] {
  return [style(colour, escapeLine(mark).padEnd(7)), ...parts.filter(Boolean).map(shorten)]
}

/** Records can have been tampered with: whatever stands there becomes a short, harmless text. */
function shorten(part: unknown): string {
  return fitLine(escapeLine(String(part)), LONGEST_PART)
}

/** On a terminal the longest part makes room, so that the last one (by which rule) is still seen. */
function shrink(parts: readonly string[], taken: number): string[] {
  const width = lineWidth()
  const excess = width === undefined ? 0 : taken + widthOf(parts.map((part) => `  ${part}`).join('')) - width
  const widths = parts.map(widthOf)
  const most = Math.max(0, ...widths)
  if (excess <= 0 || most <= SHORTEST_PART) return [...parts]
  const longest = widths.indexOf(most)
  return shrink(parts.with(longest, fitLine(parts[longest]!, Math.max(SHORTEST_PART, most - excess))), taken)
}

function argumentsOf({ args, argsBytes }: CallStarted): string | undefined {
  if (args !== undefined) return JSON.stringify(args)
  return argsBytes === undefined ? undefined : `${argsBytes} bytes of arguments`
}

function withoutChain({ seq: _seq, time: _time, prev: _prev, hash: _hash, type: _type, ...rest }: RecordEvent) {
  return rest
}
