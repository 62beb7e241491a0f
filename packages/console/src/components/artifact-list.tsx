import { Download, FileBox } from 'lucide-react'
import { api } from '../api/session.ts'
import { useAction } from '../api/use-resource.ts'
import { formatBytes } from '../lib/format.ts'
import styles from './artifact-list.module.css'
import { Button } from './button.tsx'
import { VisibleText } from './text.tsx'

/** A stored part of a result; the record has only `ref`. */
interface ShownArtifact {
  readonly ref: string
  readonly name?: string
  readonly bytes?: number
  readonly mediaType?: string
}

/** The artifacts of a call, for download. */
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
  const shown = name ?? shorten(ref)
  const fileName = name ?? `${ref.replace('artifact:', '').slice(0, 12)}.bin`
  const download = useAction(async () => saveFile(fileName, (await api.artifact(ref, { run })).slice()), {
    failure: 'Not downloaded',
  })
  const about = [mediaType, bytes === undefined ? undefined : formatBytes(bytes)].filter(Boolean).join(', ')
  return (
    <li className={styles.item}>
      <FileBox size={14} aria-hidden="true" className={styles.icon} />
      <span className={styles.name} title={ref}>
        <VisibleText text={shown} />
      </span>
      {about !== '' && <span className={styles.about}>{about}</span>}
      <Button
        size="small"
        icon={Download}
        isBusy={download.isBusy}
        onClick={() => void download.run()}
        aria-label={`Download ${shown}`}
      >
        Download
      </Button>
    </li>
  )
}

function shorten(ref: string): string {
  return ref.length > 32 ? `${ref.slice(0, 24)}…` : ref
}

/** Saves bytes as a file. */
export function saveFile(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  // Not with its own media type: the output of a tool must not open as a page of this origin.
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').slice(0, 120) || 'artifact'
  link.click()
  // Some browsers read the URL after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
