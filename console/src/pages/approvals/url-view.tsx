import { TriangleAlert } from 'lucide-react'
import type { AskView } from '../../api/types.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { splitUrl } from './split-url.ts'
import styles from './url-view.module.css'

/** A URL with its host marked, as browsers do it, and the addresses that the name has now. */
export function UrlView({ url, addresses, problem }: Omit<Extract<AskView, { kind: 'url' }>, 'kind'>) {
  const { before, host, after } = splitUrl(url)
  return (
    <div className={styles.view}>
      <code className={styles.url}>
        <VisibleText text={before} />
        <strong className={styles.host}>
          <VisibleText text={host} />
        </strong>
        <VisibleText text={after} />
      </code>
      {problem !== undefined && (
        <p className={styles.problem}>
          <TriangleAlert size={14} aria-hidden="true" /> <VisibleText text={problem} />
        </p>
      )}
      {addresses.length > 0 && (
        <p className={styles.addresses}>
          The name is now at{' '}
          {addresses.map((address, index) => (
            <span key={address}>
              {index > 0 && ', '}
              <code>
                <VisibleText text={address} />
              </code>
            </span>
          ))}
        </p>
      )}
    </div>
  )
}
