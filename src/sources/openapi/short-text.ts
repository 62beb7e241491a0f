import { escapeText } from '../../lib/index.ts'

/** Words of a document as a model gets them: bounded, and with nothing hidden in them. */
export function shortText(text: string, maxChars: number): string {
  const shown = escapeText(text.slice(0, maxChars).replaceAll('\r\n', '\n')).trim()
  return text.length > maxChars ? `${shown}…` : shown
}
