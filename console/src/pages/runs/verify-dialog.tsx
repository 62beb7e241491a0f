import { useState } from 'react'
import { api } from '../../api/api.ts'
import type { AuditReport } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './verify-dialog.module.css'

type Checked = AuditReport['runs'][number]

/** Checks the record of a run when it is opened, and says what came of it. */
export function VerifyDialog({ run, onClose }: { run: string; onClose: () => void }) {
  // What was found when it was opened before does not count.
  const [openedAt] = useState(() => Date.now())
  const query = useQuery(`audit ${run} ${openedAt}`, () => api.audit.verify({ run }))
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Verify the record"
      description="Every line has the hash of the one before it: a line that was changed, left out or put in breaks the chain."
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <Loaded query={query}>
        {({ runs }) => runs.map((checked) => <Outcome key={checked.run} checked={checked} />)}
      </Loaded>
    </Dialog>
  )
}

const OUTCOMES = {
  intact: { tone: 'ok', title: 'The record is whole' },
  open: { tone: 'ok', title: 'The record is whole so far, and the run is open' },
  unproven: { tone: 'warn', title: 'Nothing proves that the end of the record is there' },
  broken: { tone: 'bad', title: 'The record is not as it was written' },
} as const

function Outcome({ checked: { state, lines, calls, interrupted, problems, remarks } }: { checked: Checked }) {
  const size = `${lines.toLocaleString('en')} lines, ${calls.toLocaleString('en')} calls`
  return (
    <>
      <Note isLive tone={OUTCOMES[state].tone} title={`${OUTCOMES[state].title}: ${size}`}>
        {interrupted > 0 && (
          <p>{interrupted.toLocaleString('en')} calls were interrupted; what they did is not known.</p>
        )}
        {state === 'broken' && (
          <p>
            Export it as it is now and compare it with a copy from elsewhere; until it is clear what happened, do not
            rely on what it says.
          </p>
        )}
      </Note>
      <Findings title="Problems" findings={problems} />
      <Findings title="Remarks" findings={remarks} />
    </>
  )
}

function Findings({ title, findings }: { title: string; findings: Checked['problems'] }) {
  if (findings.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul className={styles.findings}>
        {findings.map(({ message, seq }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
          <li key={index}>
            {seq !== undefined && <code>line {seq}: </code>}
            <VisibleText text={message} />
          </li>
        ))}
      </ul>
    </section>
  )
}
