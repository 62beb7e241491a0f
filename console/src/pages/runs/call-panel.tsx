import { X } from 'lucide-react'
import type { CallEntry } from '../../api/types.ts'
import { Drawer } from '../../components/drawer.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { CallDetails } from './call-details.tsx'
import styles from './call-panel.module.css'

interface CallPanelProps {
  readonly run: string
  readonly calls: readonly CallEntry[]
  readonly call: string | undefined
  /** Beside the timeline; otherwise over it. */
  readonly isBeside: boolean
  readonly onSelect: (callId: string | undefined) => void
}

/** The selected call, beside the timeline or over it. */
export function CallPanel({ run, calls, call, isBeside, onSelect }: CallPanelProps) {
  const isOpen = call !== undefined
  const close = () => onSelect(undefined)
  useShortcut('Escape', 'Close the call', close, { when: isOpen && isBeside })
  const known = calls.find(({ callId }) => callId === call)
  const title = known?.tool ?? call ?? ''
  if (!isBeside) {
    return (
      <Drawer isOpen={isOpen} onClose={close} title={<VisibleText text={title} />} keepsShortcuts>
        {isOpen && <CallDetails run={run} callId={call} known={known} onSelect={onSelect} />}
      </Drawer>
    )
  }
  if (!isOpen) return null
  return (
    <aside className={styles.panel} aria-label={`Call ${title}`}>
      <header className={styles.header}>
        <h2 className={styles.title}>
          <VisibleText text={title} />
        </h2>
        <IconButton icon={X} label="Close the call" shortcut="Escape" onClick={close} />
      </header>
      <div className={styles.body}>
        <CallDetails run={run} callId={call} known={known} onSelect={onSelect} />
      </div>
    </aside>
  )
}
