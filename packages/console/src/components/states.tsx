import { ApiError } from '@tool-hub/client'
import { Inbox, type LucideIcon, RotateCw, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { readHint } from '../api/session.ts'
import { Button } from './button.tsx'
import styles from './states.module.css'
import { VisibleText } from './text.tsx'

interface EmptyStateProps {
  readonly icon?: LucideIcon
  readonly title: string
  /** What to do next, with a command in `<code>` or a link. */
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** Shown instead of an empty list: why it is empty, and what to do next. */
export function EmptyState({ icon: Icon = Inbox, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <Icon size={24} strokeWidth={1.5} aria-hidden="true" className={styles.icon} />
      <h2>{title}</h2>
      <div className={styles.words}>{children}</div>
      {action}
    </div>
  )
}

/** Shown after a failure: the message, the hint, and a button to try again. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const hint = readHint(error)
  const code = error instanceof ApiError && error.status !== 0 ? error.code : undefined
  return (
    <div className={styles.state} role="alert">
      <TriangleAlert size={24} strokeWidth={1.5} aria-hidden="true" className={styles.bad} />
      <h2>
        <VisibleText text={error.message} />
      </h2>
      {hint !== undefined && (
        <p className={styles.words}>
          <VisibleText text={hint} />
        </p>
      )}
      {code !== undefined && <code className={styles.code}>{code}</code>}
      {onRetry && (
        <Button icon={RotateCw} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Placeholder lines while content is loading; visible after a short delay, since most responses are faster. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className={styles.skeleton} role="status">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
        <div key={index} className={styles.line} />
      ))}
    </div>
  )
}
