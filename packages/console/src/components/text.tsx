import { revealParts } from '@tool-hub/core/lib/escape-text'
import { classNames } from '../lib/class-names.ts'
import { CopyButton } from './button.tsx'
import styles from './text.module.css'

/**
 * Text from a tool, a model or a file. Control, bidirectional and zero-width characters, and blanks that look like a
 * space, are shown as their code.
 */
export function VisibleText({ text }: { text: string }) {
  return revealParts(text).map(({ text: part, isEscaped }, index) =>
    isEscaped ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and are never reordered.
      <mark key={index} className={styles.unsafe} title="Hidden, or changes how other characters look">
        {part}
      </mark>
    ) : (
      part
    ),
  )
}

interface CodeProps {
  readonly text: string
  readonly label?: string
  /** Long lines wrap; otherwise the block scrolls. */
  readonly wrap?: boolean
}

/** A block of text, such as an output or a command. Hidden characters are shown; copying keeps the text as it is. */
export function Code({ text, label = 'Text', wrap = true }: CodeProps) {
  return (
    <figure className={styles.code} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys. */}
      <pre className={classNames(styles.text, wrap && styles.wrap)} tabIndex={0}>
        <VisibleText text={text} />
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
    </figure>
  )
}
