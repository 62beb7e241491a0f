import { ListX } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FilterSelect } from '../../components/filters.tsx'
import { useCalm } from '../../lib/calm.ts'
import styles from './approvals.module.css'
import type { HumanRequest } from './human-request.ts'
import {
  CallWords,
  ChosenCalls,
  countCalls,
  isAnswerable,
  SentDialog,
  useSendAll,
  type WaitingApproval,
} from './several-calls.tsx'

/** The button to deny several calls with one reason; shown if there are several. */
export function DenySeveral({ requests }: { requests: readonly HumanRequest[] }) {
  // The list stays as it was when the dialog was opened, so that nothing moves under the pointer.
  const [offered, setOffered] = useState<readonly WaitingApproval[]>()
  const waiting = requests.filter(isAnswerable)
  if (offered === undefined && waiting.length < 2) return null
  return (
    <>
      <Button icon={ListX} onClick={() => setOffered(waiting)}>
        Deny several…
      </Button>
      {offered !== undefined && (
        <DenyDialog
          offered={offered}
          isWaiting={(id) => waiting.some((each) => each.id === id)}
          onClose={() => setOffered(undefined)}
        />
      )}
    </>
  )
}

interface DenyDialogProps {
  /** The calls that were pending when the dialog was opened. */
  readonly offered: readonly WaitingApproval[]
  /** Whether a call is still pending. */
  readonly isWaiting: (id: string) => boolean
  readonly onClose: () => void
}

/** Selects calls, all of an agent or one by one, and denies them with one reason after a confirmation. */
function DenyDialog({ offered, isWaiting, onClose }: DenyDialogProps) {
  const [caller, setCaller] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [reason, setReason] = useState('')
  const [isSure, setSure] = useState(false)
  const { isBusy, sent, send } = useSendAll('deny', onClose)
  const shown = offered.filter((request) => caller === '' || request.caller === caller)
  const denied = offered.filter(({ id }) => chosen.has(id) && isWaiting(id))
  const calm = useCalm(JSON.stringify([isSure, denied.map(({ id }) => id), reason]))
  const words = countCalls(denied.length)
  if (sent) return <SentDialog decision="deny" sent={sent} onClose={onClose} />
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={isSure ? `Deny ${words}?` : 'Deny several calls'}
      description={isSure ? 'A denial cannot be undone.' : 'Select calls, and give one reason for all.'}
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
              onClick={() => void send(denied, reason)}
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
          <ChosenCalls label="Calls to deny" requests={denied} />
          {reason.trim() !== '' && <p>Reason: {reason.trim()}</p>}
        </>
      ) : (
        <div className={styles.form}>
          <div className={styles.row}>
            <FilterSelect label="Agent" value={caller} options={callersOf(offered)} onChange={setCaller} />
            <Button size="small" onClick={() => setChosen(withAll(chosen, shown))}>
              Select all {shown.length}
            </Button>
            <Button size="small" variant="quiet" disabled={chosen.size === 0} onClick={() => setChosen(new Set())}>
              Select none
            </Button>
          </div>
          <DenyChoices requests={shown} chosen={chosen} isWaiting={isWaiting} onChange={setChosen} />
          <Field label="Reason for all of them" description="Sent to each agent. Optional.">
            {(control) => (
              <input {...control} maxLength={2_000} value={reason} onChange={({ target }) => setReason(target.value)} />
            )}
          </Field>
        </div>
      )}
    </Dialog>
  )
}

function callersOf(requests: readonly HumanRequest[]): (readonly [string, string])[] {
  const callers = [...new Set(requests.map(({ caller }) => caller))].sort()
  return [['', 'All agents'], ...callers.map((caller) => [caller, caller] as const)]
}

function withAll(chosen: ReadonlySet<string>, requests: readonly HumanRequest[]): ReadonlySet<string> {
  return new Set([...chosen, ...requests.map(({ id }) => id)])
}

interface DenyChoicesProps {
  readonly requests: readonly WaitingApproval[]
  readonly chosen: ReadonlySet<string>
  readonly isWaiting: (id: string) => boolean
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

/** The calls to select from; one that was answered in the meantime cannot be selected. */
function DenyChoices({ requests, chosen, isWaiting, onChange }: DenyChoicesProps) {
  const toggle = (id: string, isChosen: boolean) =>
    onChange(new Set(isChosen ? [...chosen, id] : [...chosen].filter((each) => each !== id)))
  return (
    <ul className={styles.choices} aria-label="Calls to select from">
      {requests.map((request) => (
        <li key={request.id}>
          <label className={styles.choice}>
            <input
              type="checkbox"
              checked={chosen.has(request.id) && isWaiting(request.id)}
              disabled={!isWaiting(request.id)}
              onChange={({ target }) => toggle(request.id, target.checked)}
            />
            <CallWords request={request} isOver={!isWaiting(request.id)} />
          </label>
        </li>
      ))}
    </ul>
  )
}
