import { X } from 'lucide-react'
import type { CallEntry } from '../../api/types.ts'
import { CallDetails } from '../../calls/call-details.tsx'
import { CallDrawer } from '../../calls/call-drawer.tsx'
import { useCallDetail } from '../../calls/use-call-detail.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import styles from './call-panel.module.css'

interface CallPanelProps {
  readonly calls: readonly CallEntry[]
  readonly call: string | undefined
  /** Beside the timeline; otherwise over it. */
  readonly isBeside: boolean
  readonly pathTo: (callId: string) => string
  readonly onClose: () => void
}

/** The selected call, beside the timeline or over it. */
export function CallPanel({ calls, call, isBeside, pathTo, onClose }: CallPanelProps) {
  if (!isBeside) return <CallDrawer callId={call} onClose={onClose} pathTo={pathTo} isInRun />
  if (call === undefined) return null
  const tool = calls.find(({ callId }) => callId === call)?.tool
  return <CallBeside callId={call} title={tool ?? call} pathTo={pathTo} onClose={onClose} />
}

interface CallBesideProps extends Pick<CallPanelProps, 'pathTo' | 'onClose'> {
  readonly callId: string
  readonly title: string
}

function CallBeside({ callId, title, pathTo, onClose }: CallBesideProps) {
  const query = useCallDetail(callId)
  useShortcut('Escape', 'Close the call', onClose)
  return (
    <aside className={styles.panel} aria-label={`Call ${title}`}>
      <header className={styles.header}>
        <h2 className={styles.title}>
          <VisibleText text={title} />
        </h2>
        <IconButton icon={X} label="Close the call" shortcut="Escape" onClick={onClose} />
      </header>
      <div className={styles.body}>
        <Loaded query={query}>{(detail) => <CallDetails detail={detail} pathTo={pathTo} isInRun />}</Loaded>
      </div>
    </aside>
  )
}
