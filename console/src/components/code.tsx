import { classNames } from './class-names.ts'
import styles from './code.module.css'
import { CopyButton } from './copy-button.tsx'
import { VisibleText } from './visible-text.tsx'

interface CodeProps {
  readonly text: string
  readonly label?: string
  /** Lines break at the edge; otherwise they scroll. */
  readonly wrap?: boolean
}

/** A block of text as it is: an output, a config file, a command; copies as it is, hidden characters shown. */
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
