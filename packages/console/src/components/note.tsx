import { CircleCheck, CircleX, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { readHint } from '../api/session.ts'
import { classNames } from '../lib/class-names.ts'
import type { Tone } from './badge.tsx'
import styles from './note.module.css'
import { VisibleText } from './text.tsx'

interface NoteProps {
  readonly tone?: Tone
  readonly icon?: LucideIcon
  readonly title: ReactNode
  readonly children?: ReactNode
  /** Announced by screen readers, for notes that appear without a user action. */
  readonly isLive?: boolean
}

const ICONS: Record<Tone, LucideIcon> = {
  ok: CircleCheck,
  warn: TriangleAlert,
  bad: CircleX,
  info: Info,
  quiet: Info,
}

/** A note within the page. */
export function Note({ tone = 'info', icon, title, children, isLive = false }: NoteProps) {
  const Icon = icon ?? ICONS[tone]
  return (
    <div className={classNames(styles.note, styles[tone])} role={isLive ? 'status' : 'note'}>
      <Icon size={16} aria-hidden="true" className={styles.icon} />
      <div className={styles.words}>
        <p className={styles.title}>{title}</p>
        {children}
      </div>
    </div>
  )
}

/** Why something failed, with its hint, within the page. */
export function ErrorNote({ error }: { error: Error }) {
  const hint = readHint(error)
  return (
    <Note tone="bad" title={<VisibleText text={error.message} />} isLive>
      {hint !== undefined && (
        <p>
          <VisibleText text={hint} />
        </p>
      )}
    </Note>
  )
}
