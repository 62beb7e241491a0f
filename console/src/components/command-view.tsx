import { Pointer } from 'lucide-react'
import type { AskView } from '../api/types.ts'
import { classNames } from './class-names.ts'
import { Code } from './code.tsx'
import styles from './command-view.module.css'
import { EffectBadge } from './effect-badge.tsx'
import { VisibleText } from './visible-text.tsx'

type Command = Extract<AskView, { kind: 'command' }>

/** A command as policy reads it: each part with what is said to it and by which rule, the one that decides marked. */
export function CommandView({ command, cwd, parts }: Omit<Command, 'kind'>) {
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
    </div>
  )
}
