import { CircleCheck, CircleX, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Tone } from './badge.tsx'
import { classNames } from './class-names.ts'
import styles from './note.module.css'

interface NoteProps {
  readonly tone?: Tone
  readonly icon?: LucideIcon
  readonly title: ReactNode
  readonly children?: ReactNode
  /** Told at once by a screen reader, for what appears by itself. */
  readonly isLive?: boolean
}

const ICONS: Record<Tone, LucideIcon> = {
  ok: CircleCheck,
  warn: TriangleAlert,
  bad: CircleX,
  info: Info,
  quiet: Info,
}

/** Something to know before going on, in its place on the page. */
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
