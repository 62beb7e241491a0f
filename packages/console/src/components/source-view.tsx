import { Hourglass } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { classNames } from '../lib/class-names.ts'
import lineStyles from './line-list.module.css'
import { LineList } from './line-list.tsx'
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
  const scroller = useRef<HTMLElement>(null)
  const lines = useMemo(() => text.split(/\r\n|[\n\r\u2028\u2029]/), [text])
  const target = line ?? Math.min(...marks.keys())
  useEffect(() => {
    const row = scroller.current?.querySelector<HTMLElement>(`[data-line="${target}"]`)
    // Only this list: the page stays where it is.
    if (row && scroller.current)
      scroller.current.scrollTop = row.offsetTop - (scroller.current.clientHeight - row.offsetHeight) / 2
  }, [target])
  const count = `${lines.length.toLocaleString('en')} ${lines.length === 1 ? 'line' : 'lines'}`
  return (
    <LineList
      className={styles.view}
      label={label}
      linesLabel={`Lines of ${label.toLowerCase()}`}
      caption={<span className={styles.count}>{count}</span>}
      copy={{ text, label: 'Copy the script' }}
      count={lines.length}
      shownAtFirst={Math.max(SHOWN_AT_FIRST, MARGIN + Math.max(line ?? 0, ...marks.keys()))}
      scroller={scroller}
    >
      {(shown) =>
        lines.slice(0, shown).map((words, index) => (
          <Line
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are never reordered.
            key={index}
            number={index + 1}
            text={words}
            mark={marks.get(index + 1)}
            isTarget={line === index + 1}
          />
        ))
      }
    </LineList>
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
      <td className={lineStyles.number}>{number}</td>
      <td className={lineStyles.text}>
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
