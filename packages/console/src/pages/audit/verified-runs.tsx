import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { runPath } from '../../calls/call.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Facts } from '../../components/details.tsx'
import { Drawer } from '../../components/dialog.tsx'
import { Note } from '../../components/note.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import styles from './audit.module.css'
import { type AuditedRun, startVerification } from './verification.ts'
import { WhatToDo } from './verify-view.tsx'

const COLUMNS: readonly Column<AuditedRun>[] = [
  {
    id: 'state',
    title: 'Record',
    width: '144px',
    narrow: 'side',
    cell: ({ state, remarks }) => {
      if (state === 'broken') return <Badge tone="bad">damaged</Badge>
      if (state === 'unproven') return <Badge tone="warn">end not proven</Badge>
      if (state === 'moved') return <Badge tone="info">moved</Badge>
      if (state === 'open') return <Badge tone="info">open</Badge>
      return remarks.length > 0 ? <Badge tone="info">intact</Badge> : <Badge tone="ok">intact</Badge>
    },
  },
  {
    id: 'run',
    title: 'Run',
    width: 'minmax(248px, 1fr)',
    narrow: 'title',
    cell: ({ run }) => <VisibleText text={run} />,
  },
  {
    id: 'found',
    title: 'Found',
    width: 'minmax(160px, 2fr)',
    cell: ({ problems, remarks }) => {
      const [first, ...others] = [...problems, ...remarks]
      if (!first) return 'nothing'
      return <VisibleText text={others.length > 0 ? `${first.message} (and ${others.length} more)` : first.message} />
    },
  },
  { id: 'lines', title: 'Lines', width: '88px', align: 'end', cell: ({ lines }) => lines.toLocaleString('en') },
  { id: 'calls', title: 'Calls', width: '88px', align: 'end', cell: ({ calls }) => calls.toLocaleString('en') },
  {
    id: 'interrupted',
    title: 'Interrupted',
    width: '104px',
    align: 'end',
    cell: ({ interrupted }) => interrupted.toLocaleString('en'),
  },
]

/** The result of each record: damaged ones first, then those with an unproven end, then those with remarks. */
export function VerifiedRuns({ runs }: { runs: readonly AuditedRun[] }) {
  const [shown, setShown] = useState<AuditedRun>()
  const sorted = useMemo(() => runs.toSorted((a, b) => urgency(b) - urgency(a)), [runs])
  return (
    <>
      <Table
        label="Checked records"
        rows={sorted}
        columns={COLUMNS}
        rowKey={({ run }) => run}
        selected={shown?.run}
        tone={({ state }) => (state === 'broken' ? 'bad' : undefined)}
        onOpen={setShown}
      />
      <VerifiedRunDrawer run={shown} onClose={() => setShown(undefined)} />
    </>
  )
}

function urgency({ state, remarks }: AuditedRun): number {
  if (state === 'broken') return 3
  if (state === 'unproven') return 2
  return remarks.length > 0 ? 1 : 0
}

/** The result of checking the record of one run. */
function VerifiedRunDrawer({ run, onClose }: { run: AuditedRun | undefined; onClose: () => void }) {
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
      {run.state === 'moved' && (
        <Note
          tone="info"
          title="The record is intact as far as this machine has it; another process has continued the run"
        />
      )}
      {run.state === 'unproven' && <Note tone="warn" title="The end of the record is not proven" />}
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
