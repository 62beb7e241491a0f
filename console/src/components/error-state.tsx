import { RotateCw, TriangleAlert } from 'lucide-react'
import { ApiError } from '../../../src/client/index.ts'
import { readHint } from '../api/read-hint.ts'
import { Button } from './button.tsx'
import styles from './state.module.css'
import { VisibleText } from './visible-text.tsx'

/** Something failed: the message, what helps, and a way to try again. */
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
