import type { RecordEvent } from '../../record/events.ts'
import { escapeText } from '../../value/escape-text.ts'
import type { RecordLine } from '../api/calls.ts'

const DEEPEST = 32

/** A line of a record as people see it, harmless in every text. The exact bytes are in the export. */
export function showLine(event: RecordEvent): RecordLine {
  return show(event, 0) as RecordLine
}

function show(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST) return '…'
  if (Array.isArray(value)) return value.map((item) => show(item, depth + 1))
  const entries = Object.entries(value).map(([key, item]) => [escapeText(key), show(item, depth + 1)] as const)
  return Object.fromEntries(entries)
}
