import { Download } from 'lucide-react'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './call-details.module.css'
import { DetailBlock } from './detail-block.tsx'

/** The stored pieces of a result, to download. */
export function ArtifactList({ artifacts, run }: { artifacts: readonly string[]; run: string }) {
  if (artifacts.length === 0) return null
  return (
    <DetailBlock title="Artifacts">
      <ul className={styles.list}>
        {artifacts.map((ref) => (
          <li key={ref}>
            <a href={addressOf(ref, run)} download className={styles.download}>
              <Download size={13} aria-hidden="true" />
              <code>
                <VisibleText text={ref} />
              </code>
            </a>
          </li>
        ))}
      </ul>
    </DetailBlock>
  )
}

function addressOf(ref: string, run: string): string {
  return `/v1/artifacts/${encodeURIComponent(ref.replace(/^artifact:/, ''))}?run=${encodeURIComponent(run)}`
}
