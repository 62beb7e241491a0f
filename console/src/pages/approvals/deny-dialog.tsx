import { ListX } from 'lucide-react'
import { useRef, useState } from 'react'
import { refreshResources } from '../../api/query-client.ts'
import { api } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FilterSelect } from '../../components/filters.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { useCalm } from '../../lib/calm.ts'
import { type Denial, denyEach } from './answers.ts'
import styles from './approvals.module.css'
import { type HumanRequest, previewOf } from './human-request.ts'
import { lastAnswer } from './use-answer.ts'

type WaitingApproval = Extract<HumanRequest, { kind: 'approval' }>

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

function isAnswerable(request: HumanRequest): request is WaitingApproval {
  return request.kind === 'approval' && request.state === 'waiting' && request.mayAnswer
}

interface DenyDialogProps {
  /** The calls that were pending when the dialog was opened. */
  readonly offered: readonly Extract<HumanRequest, { kind: 'approval' }>[]
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
  const [denials, setDenials] = useState<readonly Denial[]>()
  const [isBusy, setBusy] = useState(false)
  const isSent = useRef(false)
  const shown = offered.filter((request) => caller === '' || request.caller === caller)
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
    refreshResources('approvals')
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
          <ChosenCalls requests={denied} />
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

const MAX_PREVIEW = 300

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

/** The selected calls, for confirmation. */
function ChosenCalls({ requests }: { requests: readonly WaitingApproval[] }) {
  return (
    <ul className={styles.choices} aria-label="Calls to deny">
      {requests.map((request) => (
        <li key={request.id} className={styles.choice}>
          <CallWords request={request} isOver={false} />
        </li>
      ))}
    </ul>
  )
}

/** The tool, the agent and a preview of a call. */
function CallWords({ request, isOver }: { request: WaitingApproval; isOver: boolean }) {
  return (
    <span className={styles.what}>
      <span>
        <VisibleText text={request.tool} />{' '}
        <span className={styles.quiet}>
          by <VisibleText text={request.caller} />
          {isOver && ', no longer waiting'}
        </span>
      </span>
      <code className={styles.preview}>
        <VisibleText text={previewOf(request).slice(0, MAX_PREVIEW)} />
      </code>
    </span>
  )
}

const TITLES = { late: 'Already answered:', failed: 'Not denied:' } as const

/** The calls that were not denied, and why. */
function DenyOutcome({ denials }: { denials: readonly Denial[] }) {
  const done = denials.filter(({ outcome }) => outcome === 'denied').length
  return (
    <>
      <p>
        {done} of {denials.length} were denied.
      </p>
      {denials.map(({ id, tool, outcome, words }) =>
        outcome === 'denied' ? null : (
          <Note
            key={id}
            tone={outcome === 'late' ? 'info' : 'bad'}
            title={<VisibleText text={`${TITLES[outcome]} ${tool}`} />}
          >
            {words !== undefined && (
              <p>
                <VisibleText text={words} />
              </p>
            )}
          </Note>
        ),
      )}
    </>
  )
}
