import { cutText } from '../../../limits/output.ts'
import { revealJson, revealLine, revealText } from '../../../value/escape-text.ts'

const LONGEST_VALUE = 500

/** A text of a tool or a model on one line of ours: nothing hidden, nothing that looks like a line of ours, not too long. */
export function shownLine(text: string, most = 300): string {
  return shortened(revealLine(text), most)
}

/** The same over several lines. */
export function shownText(text: string, most = 4_000): string {
  return shortened(revealText(text), most)
}

/** A value as JSON on one line; each long text in it is shortened by itself, so that it hides nothing of what follows. */
export function shownJson(value: unknown, most = 4_000): string {
  const json = JSON.stringify(value, (_, part) => (typeof part === 'string' ? shortened(part, LONGEST_VALUE) : part))
  return shortened(revealJson(json ?? 'null'), most)
}

/** Head and tail stay: what matters may stand at the end, and whoever wants it unseen would put it there. */
function shortened(text: string, most: number): string {
  return cutText(text, { maxChars: most, mode: 'middle', mark: (cut) => `…(${cut} characters)…` }).text
}
