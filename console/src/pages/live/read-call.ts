import type { RecordLine } from '../../api/types.ts'

/** What the record says of a call, by what people ask for. */
export interface CallStory {
  /** Its facts: caller, arguments, purpose; on its start, or on its end where it never started. */
  readonly facts: RecordLine | undefined
  readonly end: RecordLine | undefined
  /** What was asked and answered, in order. */
  readonly asks: readonly RecordLine[]
  /** Everything between: files changed, hosts connected to, processes, late ends. */
  readonly events: readonly RecordLine[]
}

const ASKS = new Set(['approval-requested', 'approval-answered', 'answer-refused'])
const OTHERS = new Set(['call-started', 'call-ended', ...ASKS])

/** Sorts the lines of a call's record. */
export function readCall(lines: readonly RecordLine[]): CallStory {
  const start = lines.find(({ type }) => type === 'call-started')
  const end = lines.findLast(({ type }) => type === 'call-ended')
  return {
    facts: start ?? end,
    end,
    asks: lines.filter(({ type }) => ASKS.has(type)),
    events: lines.filter(({ type }) => !OTHERS.has(type)),
  }
}

/** A text of a line; undefined where there is none, or something else. */
export function textOf(line: RecordLine | undefined, key: string): string | undefined {
  const value = line && Object.hasOwn(line, key) ? line[key] : undefined
  return typeof value === 'string' ? value : undefined
}

/** A number of a line. */
export function numberOf(line: RecordLine | undefined, key: string): number | undefined {
  const value = line && Object.hasOwn(line, key) ? line[key] : undefined
  return typeof value === 'number' ? value : undefined
}

/** The texts of a list on a line. */
export function textsOf(line: RecordLine | undefined, key: string): readonly string[] {
  const value = line && Object.hasOwn(line, key) ? line[key] : undefined
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

const ON_EVERY_LINE = new Set(['seq', 'time', 'type', 'callId', 'tool', 'prev', 'hash'])

/** What a line says beside what every line has: for those without a view of their own. */
export function restOf(line: RecordLine): Record<string, unknown> {
  return Object.fromEntries(Object.entries(line).filter(([key]) => !ON_EVERY_LINE.has(key)))
}
