import { escapeJson, escapeLine, escapeText } from '../../../value/escape-text.ts'

/** A text of a tool or a model on one line of ours: nothing hidden, nothing that looks like a line of ours, not too long. */
export function shownLine(text: string, most = 300): string {
  return shortened(escapeLine(text), most)
}

/** The same over several lines. */
export function shownText(text: string, most = 4_000): string {
  return shortened(escapeText(text), most)
}

/** A value as JSON on one line. */
export function shownJson(value: unknown, most = 2_000): string {
  return shortened(escapeJson(JSON.stringify(value) ?? 'null'), most)
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most)}… (${text.length - most} more characters)`
}
