import { Download, FileBox } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/api.ts'
import styles from './artifact-list.module.css'
import { Button } from './button.tsx'
import { formatBytes } from './format-bytes.ts'
import { saveFile } from './save-file.ts'
import { showFailure } from './show-failure.ts'
import { VisibleText } from './visible-text.tsx'

/** A stored piece of a result; the record knows no more than `ref`. */
interface ShownArtifact {
  readonly ref: string
  readonly name?: string
  readonly bytes?: number
  readonly mediaType?: string
}

/** The artifacts of a call of a run, to download. */
export function ArtifactList({ run, artifacts }: { run: string; artifacts: readonly ShownArtifact[] }) {
  return (
    <ul className={styles.list} aria-label="Artifacts">
      {artifacts.map((artifact) => (
        <Item key={artifact.ref} run={run} artifact={artifact} />
      ))}
    </ul>
  )
}

function Item({ run, artifact: { ref, name, bytes, mediaType } }: { run: string; artifact: ShownArtifact }) {
  const [isBusy, setBusy] = useState(false)
  const shown = name ?? shorten(ref)
  const download = async () => {
    setBusy(true)
    try {
      saveFile(name ?? `${ref.replace('artifact:', '').slice(0, 12)}.bin`, (await api.artifact(ref, { run })).slice())
    } catch (error) {
      showFailure('Not downloaded', error)
    }
    setBusy(false)
  }
  const about = [mediaType, bytes === undefined ? undefined : formatBytes(bytes)].filter(Boolean).join(', ')
  return (
    <li className={styles.item}>
      <FileBox size={14} aria-hidden="true" className={styles.icon} />
      <span className={styles.name} title={ref}>
        <VisibleText text={shown} />
      </span>
      {about !== '' && <span className={styles.about}>{about}</span>}
      <Button size="small" icon={Download} isBusy={isBusy} onClick={download} aria-label={`Download ${shown}`}>
        Download
      </Button>
    </li>
  )
}

function shorten(ref: string): string {
  return ref.length > 32 ? `${ref.slice(0, 24)}…` : ref
}
