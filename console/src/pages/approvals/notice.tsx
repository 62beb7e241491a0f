import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../../components/class-names.ts'
import styles from './notice.module.css'

interface NoticeProps {
  readonly icon: LucideIcon
  readonly title: ReactNode
  readonly tone: 'ok' | 'warn' | 'bad' | 'info'
  readonly children?: ReactNode
}

/** Something that has to be known before an answer is given. */
export function Notice({ icon: Icon, title, tone, children }: NoticeProps) {
  return (
    <div className={classNames(styles.notice, styles[tone])} role="note">
      <Icon size={16} aria-hidden="true" />
      <div className={styles.words}>
        <strong>{title}</strong>
        {children !== undefined && <div>{children}</div>}
      </div>
    </div>
  )
}
