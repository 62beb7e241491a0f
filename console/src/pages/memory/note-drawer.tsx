import { Check, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { MemoryNoteEntry } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { Button } from '../../components/button.tsx'
import { Code } from '../../components/code.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { showFailure } from '../../components/show-failure.ts'
import { showToast } from '../../components/show-toast.ts'
import { useCalm } from '../../keyboard/use-calm.ts'
import { NoteFacts } from './note-facts.tsx'

/** One note with where it comes from; it can be accepted where nobody has looked at it, and forgotten. */
export function NoteDrawer({ note, onClose }: { note: MemoryNoteEntry; onClose: () => void }) {
  const { may, principal } = useMe()
  const [isForgetting, setForgetting] = useState(false)
  const calm = useCalm(JSON.stringify(note))
  const mayAccept = may('approve') && !note.origin.reviewed && note.origin.principal !== principal.name
  const forget = async () => {
    await api.memory.forget(note.id)
    refreshQueries('memory')
    showToast({ title: 'Forgotten', description: 'No agent recalls it any more.' })
    onClose()
  }
  const accept = async () => {
    try {
      await api.memory.promote(note.id)
      refreshQueries('memory')
      showToast({ title: 'Reviewed', description: 'Agents may rely on it.' })
      onClose()
    } catch (error) {
      showFailure('Not marked as reviewed', error)
    }
  }
  const actions = [
    mayAccept && (
      <Button key="accept" icon={Check} calm={calm} onClick={() => void accept()}>
        Mark as reviewed
      </Button>
    ),
    may('admin') && (
      <Button key="forget" variant="danger" icon={Trash2} onClick={() => setForgetting(true)}>
        Forget
      </Button>
    ),
  ].filter(Boolean)
  return (
    <Drawer isOpen onClose={onClose} title="Note" footer={actions.length > 0 ? actions : undefined}>
      <Code text={note.content} label="Note" />
      <NoteFacts note={note} />
      <ConfirmDialog
        isOpen={isForgetting}
        onClose={() => setForgetting(false)}
        title="Forget this note?"
        action="Forget"
        failure="Not forgotten"
        onConfirm={forget}
      >
        <p>No agent recalls it any more. This cannot be taken back; the record of the call that wrote it stays.</p>
      </ConfirmDialog>
    </Drawer>
  )
}
