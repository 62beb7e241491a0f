import { WrapText } from 'lucide-react'
import { useMemo, useState } from 'react'
import { classNames } from '../lib/class-names.ts'
import { type DiffLine, parseDiff } from '../lib/diff.ts'
import { Badge } from './badge.tsx'
import { Button, CopyButton, IconButton } from './button.tsx'
import styles from './diff-view.module.css'
import { VisibleText } from './text.tsx'

const SHOWN_AT_FIRST = 500
const SIGNS = { added: '+', removed: '−', same: ' ', hunk: '', note: '' } as const

/** The changes of a file: each line with its numbers, a sign and a color. Hidden characters are shown. */
export function DiffView({ path, diff, isNew = false }: { path: string; diff: string; isNew?: boolean }) {
  const [isWrapped, setWrapped] = useState(true)
  const [isWhole, setWhole] = useState(false)
  const lines = useMemo(() => parseDiff(diff), [diff])
  const shown = isWhole ? lines : lines.slice(0, SHOWN_AT_FIRST)
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return (
    <figure className={styles.view} aria-label={`Changes of ${path}`}>
      <figcaption className={styles.caption}>
        <code className={styles.path}>
          <VisibleText text={path} />
        </code>
        {isNew && <Badge tone="info">new file</Badge>}
        <span className={styles.added}>+{count('added')}</span>
        <span className={styles.removed}>−{count('removed')}</span>
        <span className={styles.tools}>
          <IconButton
            size="small"
            icon={WrapText}
            label="Wrap lines"
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
          />
          <CopyButton text={diff} label="Copy the diff" />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys. */}
      <section className={styles.scroller} tabIndex={0} aria-label={`Lines of ${path}`}>
        <table className={classNames(styles.table, isWrapped && styles.wrap)}>
          <tbody>
            {shown.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are never reordered.
              <Line key={index} line={line} />
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

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  const word = { added: 'added', removed: 'removed', same: '', hunk: '', note: '' }[kind]
  return (
    <tr className={styles[`${kind}Line`]}>
      <td className={styles.number}>{before}</td>
      <td className={styles.number}>{after}</td>
      <td className={styles.sign}>
        <span aria-hidden="true">{SIGNS[kind]}</span>
        {word !== '' && <span className="visually-hidden">{word}</span>}
      </td>
      <td className={styles.text}>
        <VisibleText text={text} />
      </td>
    </tr>
  )
}
