import { basename } from 'node:path'
import { toToolEvents } from '@tool-hub/adapters'
import { isFailure } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { CallEnded, CallOutput, CallStarted, ProcessEnded, RecordEvent } from '@tool-hub/runtime/records/log'
import { countNoun, fitLine, lineWidth, widthOf, wrapText } from './layout.ts'
import { printJsonLine, style } from './print.ts'

/** The whole of every field is in the event itself. */
const MAX_PART_LENGTH = 120
const MARK_WIDTH = 7
const MAX_LISTED = 20
const MAX_WHOLE_LENGTH = 1_000
/** How many lines of an output are shown of its beginning, and of its end. */
const MAX_OUTPUT_LINES = 20

/**
 * Describes the events of a run, one line each, or more if the terminal is too narrow. Nested calls are indented: below the
 * start of their parent or, if the parent has no start event, above its end.
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
    const indent = ' '.repeat(widthOf(start) + MARK_WIDTH + 2)
    const line = layOut(`${start}${mark}`, parts, indent)
    return event.type === 'call-output' ? [line, ...outputLines(event, indent)].join('\n') : line
  }

  #depthOf(event: RecordEvent): number {
    if (!('callId' in event) || event.callId === undefined) return 0
    const depth = this.#depths.get(event.callId) ?? this.#depthBelow('parent' in event ? event.parent : undefined)
    if (event.type === 'call-started') this.#depths.set(event.callId, depth)
    if (event.type === 'call-ended' || event.type === 'call-interrupted') this.#depths.delete(event.callId)
    return depth
  }

  /** A parent without a start has not been printed yet: it counts as an outermost call. */
  #depthBelow(parent: string | undefined): number {
    return parent === undefined ? 0 : (this.#depths.get(parent) ?? 0) + 1
  }
}

/** A part for the owner, such as a notice: on a terminal it is wrapped, not cut. */
class Whole {
  readonly text: string

  constructor(text: string) {
    this.text = fitLine(escapeLine(text), MAX_WHOLE_LENGTH)
  }
}

type Part = string | Whole

/** The mark of an event, then its details. */
function describe(event: RecordEvent): Part[] {
  switch (event.type) {
    case 'call-started':
      return words('start', 'cyan', event.tool, argumentsOf(event), event.rule && `by ${event.rule}`)
    case 'call-ended':
      return describeEnd(event)
    case 'call-output':
      return words('output', 'dim', event.tool, 'returned')
    case 'call-interrupted':
      return words('interrupted', 'red', event.tool, 'the process went away; its effects are unknown')
    case 'call-late':
      return words('late', 'yellow', event.tool, `ended ${event.ok ? 'well' : 'badly'} after it had been left behind`)
    case 'call-pending':
      return words('pending', 'yellow', event.tool, event.message)
    case 'answer-refused':
      return words('refused', 'yellow', event.tool, `an answer of ${event.by}: ${event.reason}`)
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
    case 'file-changing':
      return words(
        'change',
        'cyan',
        event.tool,
        event.op,
        event.path,
        event.op === 'move' ? `to ${event.to}` : undefined,
      )
    case 'change-undone':
      return words(
        event.outcome ?? 'undone',
        event.outcome ? 'yellow' : 'green',
        event.tool,
        `event ${event.change} of ${event.run}`,
      )
    case 'shadow-differed':
      return words(
        'shadow',
        'yellow',
        event.tool,
        event.target,
        `would be ${event.shadowEffect} by ${event.shadowRule}`,
      )
    case 'command-tainted':
      return words('tainted', 'yellow', event.tool, `could read ${event.reason}`)
    case 'run-later-changed':
      return words(
        'later',
        'yellow',
        event.tool,
        ...listed(event.files, ({ path, by }) => `changed ${path}, run or obeyed later by ${by}`),
      )
    case 'call-noticed':
      return words('notice', 'yellow', event.tool, ...listed([event.notice], String))
    case 'run-tainted':
      return words('tainted', 'yellow', `by ${event.sources}`)
    case 'taint-cleared':
      return words('cleared', 'yellow', `by ${event.by}`, event.reason, `was tainted by ${event.sources}`)
    case 'command-connected':
      return words('network', event.outcome === 'connected' ? 'cyan' : 'red', event.tool, event.url, event.outcome)
    case 'process-started':
      return words('process', 'cyan', event.tool, `${event.process} continues in the background`, event.command)
    case 'process-ended':
      return words('process', 'dim', event.tool, `${event.process} ended`, endOfProcess(event))
    case 'process-lost':
      return words('lost', 'red', event.tool, `${event.process} went away with its hub`, event.command)
    case 'hub-changed':
      return words('changed', 'yellow', event.change, event.subject, `by ${event.by}`)
    case 'run-opened':
      return words('opened', 'dim', event.run, `process ${event.pid}`)
    case 'run-closed':
      return words(
        'closed',
        'dim',
        `${countNoun(event.calls, 'call')}, ${event.failures} failed or denied`,
        event.runLater && 'these files run by themselves and were changed:',
        ...listed(event.runLater, String),
      )
    default:
      return words(event.type, 'yellow', JSON.stringify(withoutChain(event)))
  }
}

function describeEnd(event: CallEnded): Part[] {
  const { status, tool, durationMs, error, summary, rule, approvedBy, worker, notices } = event
  const outcome = error ? `${error.code}: ${error.message}` : summary
  return words(
    status,
    status === 'ok' ? 'green' : isFailure(status) ? 'red' : 'yellow',
    tool,
    `${Math.round(durationMs)} ms`,
    outcome,
    worker && `on worker ${worker}`,
    rule && `by ${rule}`,
    approvedBy && `approved by ${approvedBy}`,
    ...listed(notices, (notice) => `notice: ${notice}`),
  )
}

/** A part for each of the first items; the record can have anything in their place. */
function listed<T>(items: readonly T[] | undefined, describe: (item: T) => string): Part[] {
  if (!Array.isArray(items)) return []
  const more = items.length - MAX_LISTED
  return [
    ...items.slice(0, MAX_LISTED).map((item) => new Whole(describe(Object(item)))),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
}

function endOfProcess({ exitCode, signal, timedOut }: ProcessEnded): string {
  const how = signal === undefined ? `with exit code ${exitCode ?? 'unknown'}` : `by ${signal}`
  return timedOut ? `${how}, out of time` : how
}

function words(
  mark: string,
  colour: 'cyan' | 'green' | 'red' | 'yellow' | 'dim',
  ...parts: (Part | undefined)[]
): Part[] {
  return [style(colour, escapeLine(mark).padEnd(MARK_WIDTH)), ...parts.filter((part) => part).map(shorten)]
}

/** Records can have been tampered with: whatever stands there becomes a short, harmless text. */
function shorten(part: unknown): Part {
  return part instanceof Whole ? part : fitLine(escapeLine(String(part)), MAX_PART_LENGTH)
}

/** On a terminal, a part that has no room stands on a line of its own below the first. */
function layOut(first: string, parts: readonly Part[], indent: string): string {
  const width = lineWidth()
  const lines = [first]
  for (const part of parts) {
    const text = part instanceof Whole ? part.text : part
    const longer = `${lines.at(-1)}  ${text}`
    if (widthOf(longer) <= width) lines[lines.length - 1] = longer
    else if (part === text) lines.push(fitLine(`${indent}${text}`, width))
    else lines.push(wrapText(`${indent}${text}`, indent.length, width))
  }
  return lines.join('\n')
}

/** The lines of an output, each behind a bar, so that none of them can pass for an event. */
function outputLines({ text }: CallOutput, indent: string): string[] {
  const lines = String(text).trimEnd().split('\n')
  const cut = lines.length - 2 * MAX_OUTPUT_LINES
  const shown =
    cut <= 0
      ? lines
      : [
          ...lines.slice(0, MAX_OUTPUT_LINES),
          `… ${countNoun(cut, 'line')}, see --json`,
          ...lines.slice(-MAX_OUTPUT_LINES),
        ]
  return shown.map((line) => fitLine(`${indent}${style('dim', '│')} ${escapeLine(line)}`))
}

function argumentsOf({ args, argsBytes }: CallStarted): string | undefined {
  if (args !== undefined) return JSON.stringify(args)
  return argsBytes === undefined ? undefined : `${argsBytes} bytes of arguments`
}

function withoutChain({ seq: _seq, time: _time, prev: _prev, hash: _hash, type: _type, ...rest }: RecordEvent) {
  return rest
}

/** The help of `--tool-events`. */
export const TOOL_EVENTS =
  'Print the events tool.started, tool.completed and tool.failed of each call instead, as JSON lines'

/** Prints a recorded event under these names; nothing for events that concern no call. */
export async function printToolEvents(folder: string, event: RecordEvent): Promise<void> {
  const { time } = event
  for (const told of toToolEvents({ run: basename(folder), time, event })) await printJsonLine(told)
}
