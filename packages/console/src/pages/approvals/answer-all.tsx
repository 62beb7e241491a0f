import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { useCalm } from '../../lib/calm.ts'
import styles from './approvals.module.css'
import { ChosenCalls, countCalls, SentDialog, useSendAll, type WaitingApproval } from './several-calls.tsx'

interface AnswerAllProps {
  readonly decision: 'allow' | 'deny'
  /** The calls that can be answered now. */
  readonly calls: readonly WaitingApproval[]
  /** Called if all of the answers count. */
  readonly onDone: () => void
  readonly onClose: () => void
}

const VERBS = { allow: 'Allow', deny: 'Deny' } as const

/** Lists the calls of a script, and gives all of them one answer. */
export function AnswerAll({ decision, calls, onDone, onClose }: AnswerAllProps) {
  // A call that arrives while the dialog is open was not there when the user chose “all”.
  const [offered] = useState(() => new Set(calls.map(({ id }) => id)))
  const [reason, setReason] = useState('')
  const { isBusy, sent, send } = useSendAll(decision, () => {
    onClose()
    onDone()
  })
  const chosen = calls.filter(({ id }) => offered.has(id))
  const added = calls.length - chosen.length
  const calm = useCalm(JSON.stringify(chosen.map(({ id }) => id)))
  if (sent) return <SentDialog decision={decision} sent={sent} onClose={onClose} />
  const verb = VERBS[decision]
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={`${verb} ${countCalls(chosen.length)} of the script?`}
      description={
        decision === 'allow' ? 'Each of them runs once. Nothing is remembered.' : 'A denial cannot be undone.'
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant={decision === 'allow' ? 'primary' : 'danger'}
            isBusy={isBusy}
            disabled={chosen.length === 0}
            calm={calm}
            onClick={() => void send(chosen, reason)}
          >
            {verb} {countCalls(chosen.length)}
          </Button>
        </>
      }
    >
      <div className={styles.form}>
        <ChosenCalls label={`Calls to ${decision}`} requests={chosen} />
        {added > 0 && <Note tone="info" isLive title={`${countCalls(added)} more arrived; they are not included.`} />}
        {decision === 'deny' && (
          <Field label="Reason for all of them" description="Sent to the agent. Optional.">
            {(control) => (
              <input {...control} maxLength={2_000} value={reason} onChange={({ target }) => setReason(target.value)} />
            )}
          </Field>
        )}
      </div>
    </Dialog>
  )
}
