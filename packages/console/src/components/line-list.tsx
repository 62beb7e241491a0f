import { WrapText } from 'lucide-react'
import { type ReactNode, type Ref, useState } from 'react'
import { classNames } from '../lib/class-names.ts'
import { Button, CopyButton, IconButton } from './button.tsx'
import styles from './line-list.module.css'

const SHOWN_AT_FIRST = 500

interface LineListProps {
  readonly label: string
  /** The name of the part that scrolls. */
  readonly linesLabel: string
  readonly caption: ReactNode
  /** What can be copied, and how the button is called. */
  readonly copy: { readonly text: string; readonly label: string }
  readonly count: number
  /** How many lines are shown at first. Default: 500. */
  readonly shownAtFirst?: number
  readonly className?: string | undefined
  readonly scroller?: Ref<HTMLElement>
  /** The rows of the first lines. */
  readonly children: (shown: number) => ReactNode
}

/** Lines in a frame that scrolls. They can be wrapped and copied, and those of a long text are shown on request. */
export function LineList(props: LineListProps) {
  const {
    label,
    linesLabel,
    caption,
    copy,
    count,
    shownAtFirst = SHOWN_AT_FIRST,
    className,
    scroller,
    children,
  } = props
  const [isWrapped, setWrapped] = useState(true)
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? count : Math.min(count, shownAtFirst)
  return (
    <figure className={classNames(styles.view, className)} aria-label={label}>
      <figcaption className={styles.caption}>
        {caption}
        <span className={styles.tools}>
          <IconButton
            size="small"
            icon={WrapText}
            label="Wrap lines"
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
          />
          <CopyButton text={copy.text} label={copy.label} />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys. */}
      <section ref={scroller} className={styles.scroller} tabIndex={0} aria-label={linesLabel}>
        <table className={classNames(styles.table, isWrapped && styles.wrap)}>
          <tbody>{children(shown)}</tbody>
        </table>
      </section>
      {shown < count && (
        <Button variant="quiet" size="small" onClick={() => setWhole(true)}>
          Show all {count.toLocaleString('en')} lines
        </Button>
      )}
    </figure>
  )
}
