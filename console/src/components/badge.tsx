import { CircleCheck, CircleX, Info, type LucideIcon, Minus, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './badge.module.css'
import { classNames } from './class-names.ts'

/** What a colour means; every tone also has an icon. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet'

const ICONS: Record<Tone, LucideIcon> = {
  ok: CircleCheck,
  warn: TriangleAlert,
  bad: CircleX,
  info: Info,
  quiet: Minus,
}

/** A state in a word, with an icon, so that it is never told by colour alone. */
export function Badge({ tone = 'quiet', icon, children }: { tone?: Tone; icon?: LucideIcon; children: ReactNode }) {
  const Icon = icon ?? ICONS[tone]
  return (
    <span className={classNames(styles.badge, styles[tone])}>
      <Icon size={12} strokeWidth={2.25} aria-hidden="true" />
      {children}
    </span>
  )
}
