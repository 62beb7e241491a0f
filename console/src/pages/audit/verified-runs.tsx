import { useMemo, useState } from 'react'
import { Badge } from '../../components/badge.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import type { AuditedRun } from './verification.ts'
import { VerifiedRunDrawer } from './verified-run-drawer.tsx'

const COLUMNS: readonly Column<AuditedRun>[] = [
  {
    id: 'state',
    title: 'Record',
    width: '144px',
    narrow: 'side',
    cell: ({ state, remarks }) => {
      if (state === 'broken') return <Badge tone="bad">damaged</Badge>
      if (state === 'unproven') return <Badge tone="warn">end not proven</Badge>
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

/** What was found in each record: the damaged first, then those whose end is not proven, then those with remarks. */
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
