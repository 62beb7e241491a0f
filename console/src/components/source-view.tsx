import { Hourglass, WrapText } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { classNames } from '../lib/class-names.ts'
import { Button, CopyButton, IconButton } from './button.tsx'
import styles from './source-view.module.css'
import { VisibleText } from './text.tsx'

const SHOWN_AT_FIRST = 500
/** Lines after the last marked one that are always shown. */
const MARGIN = 20

interface SourceViewProps {
  readonly text: string
  readonly label: string
  /** What is to be said about lines, by line number from 1. */
  readonly marks: ReadonlyMap<number, string>
  /** The line to scroll to. Default: the first one with a mark. */
  readonly line?: number
}

/** The source of a script with line numbers; some lines are marked. Hidden characters are shown. */
export function SourceView({ text, label, marks, line }: SourceViewProps) {
  const [isWrapped, setWrapped] = useState(true)
  const [isWhole, setWhole] = useState(false)
  const scroller = useRef<HTMLElement>(null)
  const lines = useMemo(() => text.split(/\r\n|[\n\r\u2028\u2029]/), [text])
  const least = Math.max(SHOWN_AT_FIRST, MARGIN + Math.max(line ?? 0, ...marks.keys()))
  const shown = isWhole ? lines : lines.slice(0, least)
  const target = line ?? Math.min(...marks.keys())
  useEffect(() => {
    const row = scroller.current?.querySelector<HTMLElement>(`[data-line="${target}"]`)
    // Only this list: the page stays where it is.
    if (row && scroller.current)
      scroller.current.scrollTop = row.offsetTop - (scroller.current.clientHeight - row.offsetHeight) / 2
  }, [target])
  return (
    <figure className={styles.view} aria-label={label}>
      <figcaption className={styles.caption}>
        <span>
          {lines.length.toLocaleString('en')} {lines.length === 1 ? 'line' : 'lines'}
        </span>
        <span className={styles.tools}>
          <IconButton
            size="small"
            icon={WrapText}
            label="Wrap lines"
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
          />
          <CopyButton text={text} label="Copy the script" />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys. */}
      <section ref={scroller} className={styles.scroller} tabIndex={0} aria-label={`Lines of ${label.toLowerCase()}`}>
        <table className={classNames(styles.table, isWrapped && styles.wrap)}>
          <tbody>
            {shown.map((words, index) => (
              <Line
                // biome-ignore lint/suspicious/noArrayIndexKey: lines are never reordered.
                key={index}
                number={index + 1}
                text={words}
                mark={marks.get(index + 1)}
                isTarget={line === index + 1}
              />
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < lines.length && (
        <Button variant="quiet" size="small" onClick={() => setWhole(true)}>
          Show all {lines.length.toLocaleString('en')} lines
        </Button>
      )}
    </figure>
  )
}

interface LineProps {
  readonly number: number
  readonly text: string
  readonly mark: string | undefined
  readonly isTarget: boolean
}

function Line({ number, text, mark, isTarget }: LineProps) {
  return (
    <tr
      data-line={number}
      className={classNames(mark !== undefined && styles.marked)}
      aria-current={isTarget ? 'location' : undefined}
    >
      <td className={styles.number}>{number}</td>
      <td className={styles.text}>
        <VisibleText text={text} />
      </td>
      <td className={styles.mark}>
        {mark !== undefined && (
          <>
            <Hourglass size={12} aria-hidden="true" /> {mark}
          </>
        )}
      </td>
    </tr>
  )
}
