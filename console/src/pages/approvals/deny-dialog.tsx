import { useRef, useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import type { Ask } from './ask.ts'
import { ChosenCalls, DenyChoices } from './deny-choices.tsx'
import styles from './deny-dialog.module.css'
import { type Denial, denyEach } from './deny-each.ts'
import { DenyOutcome } from './deny-outcome.tsx'
import { lastAnswer } from './last-answer.ts'

interface DenyDialogProps {
  /** What waited when the dialog was opened. */
  readonly offered: readonly Extract<Ask, { kind: 'approval' }>[]
  /** Whether it still does. */
  readonly isWaiting: (id: string) => boolean
  readonly onClose: () => void
}

/** Chooses calls, all of an agent or one by one, and denies them with one reason after a second look. */
export function DenyDialog({ offered, isWaiting, onClose }: DenyDialogProps) {
  const [caller, setCaller] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [reason, setReason] = useState('')
  const [isSure, setSure] = useState(false)
  const [denials, setDenials] = useState<readonly Denial[]>()
  const [isBusy, setBusy] = useState(false)
  const isSent = useRef(false)
  const shown = offered.filter((ask) => caller === '' || ask.caller === caller)
  const denied = offered.filter(({ id }) => chosen.has(id) && isWaiting(id))
  const calm = useCalm(JSON.stringify([isSure, denied.map(({ id }) => id), reason]))
  const words = denied.length === 1 ? '1 call' : `${denied.length} calls`

  const deny = async () => {
    if (isSent.current) return
    isSent.current = true
    setBusy(true)
    const text = reason.trim()
    const outcome = await denyEach(denied, (id) =>
      api.approvals.answer(id, { decision: 'deny', ...(text && { reason: text }) }),
    )
    refreshQueries('approvals')
    setBusy(false)
    const done = outcome.filter((each) => each.outcome === 'denied').length
    if (done > 0)
      lastAnswer.set({
        words: 'Denied',
        isYes: false,
        subject: done === 1 ? '1 call' : `${done} calls`,
        at: Date.now(),
      })
    if (done === outcome.length) onClose()
    else setDenials(outcome)
  }
  if (denials) {
    return (
      <Dialog isOpen onClose={onClose} title="Not all were denied" footer={<Button onClick={onClose}>Close</Button>}>
        <DenyOutcome denials={denials} />
      </Dialog>
    )
  }
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={isSure ? `Deny ${words}?` : 'Deny several calls'}
      description={isSure ? 'A denial cannot be taken back.' : 'Choose calls, and give one reason for all.'}
      footer={
        isSure ? (
          <>
            <Button disabled={isBusy} onClick={() => setSure(false)}>
              Back
            </Button>
            <Button
              variant="danger"
              isBusy={isBusy}
              disabled={denied.length === 0}
              calm={calm}
              onClick={() => void deny()}
            >
              Deny {words}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" disabled={denied.length === 0} calm={calm} onClick={() => setSure(true)}>
              Continue with {words}
            </Button>
          </>
        )
      }
    >
      {isSure ? (
        <>
          <ChosenCalls asks={denied} />
          {reason.trim() !== '' && <p>Reason: {reason.trim()}</p>}
        </>
      ) : (
        <div className={styles.form}>
          <div className={styles.row}>
            <FilterSelect label="Agent" value={caller} options={callersOf(offered)} onChange={setCaller} />
            <Button size="small" onClick={() => setChosen(withAll(chosen, shown))}>
              Choose all {shown.length}
            </Button>
            <Button size="small" variant="quiet" disabled={chosen.size === 0} onClick={() => setChosen(new Set())}>
              Choose none
            </Button>
          </div>
          <DenyChoices asks={shown} chosen={chosen} isWaiting={isWaiting} onChange={setChosen} />
          <Field label="Reason for all of them" description="Each agent gets it. Optional.">
            {(control) => (
              <input {...control} maxLength={2_000} value={reason} onChange={({ target }) => setReason(target.value)} />
            )}
          </Field>
        </div>
      )}
    </Dialog>
  )
}

function callersOf(asks: readonly Ask[]): (readonly [string, string])[] {
  const callers = [...new Set(asks.map(({ caller }) => caller))].sort()
  return [['', 'All agents'], ...callers.map((caller) => [caller, caller] as const)]
}

function withAll(chosen: ReadonlySet<string>, asks: readonly Ask[]): ReadonlySet<string> {
  return new Set([...chosen, ...asks.map(({ id }) => id)])
}
