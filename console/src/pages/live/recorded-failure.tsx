import { VisibleText } from '../../components/visible-text.tsx'
import styles from './call-details.module.css'

/** Why a call failed: code and message. */
export function RecordedFailure({ error }: { error: unknown }) {
  if (typeof error !== 'object' || error === null) return null
  const { code, message } = error as { code?: unknown; message?: unknown }
  return (
    <p className={styles.problem}>
      <strong>
        <VisibleText text={String(code)} />
      </strong>{' '}
      <VisibleText text={String(message)} />
    </p>
  )
}
