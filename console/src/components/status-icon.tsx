import { CircleDashed } from 'lucide-react'
import { classNames } from './class-names.ts'
import { STATUSES } from './status-badge.tsx'
import styles from './status-icon.module.css'

/** The state of a call where there is no room for its word: the icon, with the word for those who hear it. */
export function StatusIcon({ status }: { status: string }) {
  const [words, tone, Icon = CircleDashed] = STATUSES.get(status) ?? [status, 'quiet' as const, CircleDashed]
  return (
    <span className={classNames(styles.icon, styles[tone])} title={words}>
      <Icon size={14} strokeWidth={2.25} aria-hidden="true" />
      <span className="visually-hidden">{words}</span>
    </span>
  )
}
