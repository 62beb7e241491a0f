import { useMemo } from 'react'
import { type DiffLine, parseDiff } from '../lib/diff.ts'
import { Badge } from './badge.tsx'
import styles from './diff-view.module.css'
import lineStyles from './line-list.module.css'
import { LineList } from './line-list.tsx'
import { VisibleText } from './text.tsx'

const SIGNS = { added: '+', removed: '−', same: ' ', hunk: '', note: '' } as const

/** The changes of a file: each line with its numbers, a sign and a color. Hidden characters are shown. */
export function DiffView({ path, diff, isNew = false }: { path: string; diff: string; isNew?: boolean }) {
  const lines = useMemo(() => parseDiff(diff), [diff])
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  const caption = (
    <>
      <code className={styles.path}>
        <VisibleText text={path} />
      </code>
      {isNew && <Badge tone="info">new file</Badge>}
      <span className={styles.added}>+{count('added')}</span>
      <span className={styles.removed}>−{count('removed')}</span>
    </>
  )
  return (
    <LineList
      className={styles.view}
      label={`Changes of ${path}`}
      linesLabel={`Lines of ${path}`}
      caption={caption}
      copy={{ text: diff, label: 'Copy the diff' }}
      count={lines.length}
    >
      {(shown) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are never reordered.
        lines.slice(0, shown).map((line, index) => <Line key={index} line={line} />)
      }
    </LineList>
  )
}

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  const word = { added: 'added', removed: 'removed', same: '', hunk: '', note: '' }[kind]
  return (
    <tr className={styles[`${kind}Line`]}>
      <td className={lineStyles.number}>{before}</td>
      <td className={lineStyles.number}>{after}</td>
      <td className={styles.sign}>
        <span aria-hidden="true">{SIGNS[kind]}</span>
        {word !== '' && <span className="visually-hidden">{word}</span>}
      </td>
      <td className={lineStyles.text}>
        <VisibleText text={text} />
      </td>
    </tr>
  )
}
