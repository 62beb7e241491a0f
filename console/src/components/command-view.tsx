import { Pointer, TriangleAlert } from 'lucide-react'
import type { AskView } from '../api/types.ts'
import { classNames } from './class-names.ts'
import { Code } from './code.tsx'
import styles from './command-view.module.css'
import { EffectBadge } from './effect-badge.tsx'
import { Note } from './note.tsx'
import { VisibleText } from './visible-text.tsx'

type Command = Extract<AskView, { kind: 'command' }>

/** A command as policy reads it: each part with its dangers, what is said to it and by which rule; the one that decides marked. */
export function CommandView({ command, cwd, parts, notes = [] }: Omit<Command, 'kind'>) {
  return (
    <div className={styles.view}>
      <Code text={command} label="Command" />
      {cwd !== undefined && (
        <p className={styles.cwd}>
          in{' '}
          <code>
            <VisibleText text={cwd} />
          </code>
        </p>
      )}
      <ol className={styles.parts} aria-label="Parts of the command">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same part may come twice, and the order never changes.
          <li key={index} className={classNames(styles.part, part.decides && styles.decides)}>
            <EffectBadge effect={part.effect} />
            <div className={styles.words}>
              <code className={styles.text}>
                <VisibleText text={part.text} />
              </code>
              {part.risks?.map((risk) => (
                <span key={risk} className={styles.risk}>
                  <TriangleAlert size={12} aria-hidden="true" /> <VisibleText text={risk} />
                </span>
              ))}
              <span className={styles.rule}>
                <VisibleText text={part.rule} />
              </span>
            </div>
            {part.decides && (
              <span className={styles.mark}>
                <Pointer size={12} aria-hidden="true" /> decides
              </span>
            )}
          </li>
        ))}
      </ol>
      {notes.map((note) => (
        <Note key={note} tone="info" title={<VisibleText text={note} />} />
      ))}
    </div>
  )
}
