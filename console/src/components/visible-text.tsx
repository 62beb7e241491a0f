import { escapeText } from '../../../src/value/escape-text.ts'
import styles from './visible-text.module.css'

/** Text from a tool, a model or a file: what drives, hides or reorders (control, bidi, zero-width) is shown by its code. */
export function VisibleText({ text }: { text: string }) {
  if (escapeText(text) === text) return text
  return splitUnsafe(text).map(({ part, isUnsafe }, index) =>
    isUnsafe ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and are never reordered.
      <mark key={index} className={styles.unsafe} title="A character that is not shown, or changes how others are">
        {part}
      </mark>
    ) : (
      part
    ),
  )
}

function splitUnsafe(text: string): { part: string; isUnsafe: boolean }[] {
  const parts: { part: string; isUnsafe: boolean }[] = []
  for (const character of text) {
    const part = escapeText(character)
    const isUnsafe = part !== character
    const last = parts.at(-1)
    if (last && last.isUnsafe === isUnsafe) last.part += part
    else parts.push({ part, isUnsafe })
  }
  return parts
}
