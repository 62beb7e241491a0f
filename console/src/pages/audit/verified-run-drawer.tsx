import { runPath } from '../../calls/run-path.ts'
import { Button } from '../../components/button.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { Facts } from '../../components/facts.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './audit.module.css'
import { type AuditedRun, startVerification } from './verification.ts'
import { WhatToDo } from './what-to-do.tsx'

/** Everything that was found in the record of one run. */
export function VerifiedRunDrawer({ run, onClose }: { run: AuditedRun | undefined; onClose: () => void }) {
  return (
    <Drawer isOpen={run !== undefined} onClose={onClose} title={run && <VisibleText text={run.run} />}>
      {run && <Details run={run} onClose={onClose} />}
    </Drawer>
  )
}

function Details({ run, onClose }: { run: AuditedRun; onClose: () => void }) {
  const verifyAgain = () => {
    onClose()
    void startVerification(run.run)
  }
  return (
    <>
      {run.state === 'intact' && <Note tone="ok" title="The record is intact" />}
      {run.state === 'open' && <Note tone="info" title="The record is intact so far; the run is open" />}
      {run.state === 'unproven' && <Note tone="warn" title="Nothing proves that the end of the record is there" />}
      {run.state === 'broken' && (
        <Note tone="bad" title="The record is damaged">
          <WhatToDo />
        </Note>
      )}
      <Facts
        facts={[
          ['Lines', run.lines.toLocaleString('en')],
          ['Calls', run.calls.toLocaleString('en')],
          ['Interrupted', run.interrupted.toLocaleString('en')],
        ]}
      />
      <Findings title="Problems" findings={run.problems} />
      <Findings title="Remarks" findings={run.remarks} />
      <div className={styles.row}>
        <Link to={runPath(run.run)}>Open the run</Link>
        <Button size="small" onClick={verifyAgain}>
          Verify it again
        </Button>
      </div>
    </>
  )
}

function Findings({ title, findings }: { title: string; findings: AuditedRun['problems'] }) {
  if (findings.length === 0) return null
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul className={styles.list}>
        {findings.map(({ message }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same may be found twice, and the order never changes.
          <li key={index}>
            <VisibleText text={message} />
          </li>
        ))}
      </ul>
    </section>
  )
}
