import { revealParts } from '../../../src/value/escape-text.ts'
import styles from './visible-text.module.css'

/**
 * Text from a tool, a model or a file: what drives, hides or reorders (control, bidi, zero-width), and blanks that look
 * like a space, are shown by their code.
 */
export function VisibleText({ text }: { text: string }) {
  return revealParts(text).map(({ text: part, isEscaped }, index) =>
    isEscaped ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and are never reordered.
      <mark key={index} className={styles.unsafe} title="A character that is not shown, or changes how others are">
        {part}
      </mark>
    ) : (
      part
    ),
  )
}
