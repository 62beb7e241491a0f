import { revealJson, revealLine, revealText } from '../../../lib/index.ts'
import { shortenText } from '../../../limits/index.ts'

const MAX_VALUE_LENGTH = 500

/** A text of a tool or a model on one line: nothing hidden, nothing that looks like a line of the form, not too long. */
export function shownLine(text: string, maxChars = 300): string {
  return shortened(revealLine(text), maxChars)
}

/** The same over several lines. */
export function shownText(text: string, maxChars = 4_000): string {
  return shortened(revealText(text), maxChars)
}

/** A value as JSON on one line; each long text in it is shortened by itself, so that it hides nothing of what follows. */
export function shownJson(value: unknown, maxChars = 4_000): string {
  const json = JSON.stringify(value, (_, part) => (typeof part === 'string' ? shortened(part, MAX_VALUE_LENGTH) : part))
  return shortened(revealJson(json ?? 'null'), maxChars)
}

/** Keeps head and tail: something dangerous could be hidden at the end. */
function shortened(text: string, maxChars: number): string {
  return shortenText(text, { maxChars, mode: 'middle', mark: (cut) => `…(${cut} characters)…` }).text
}
