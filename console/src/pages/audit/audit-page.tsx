import { api } from '../../api/api.ts'
import type { AuditReport } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Badge } from '../../components/badge.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'

type AuditedRun = AuditReport['runs'][number]

const COLUMNS: readonly Column<AuditedRun>[] = [
  {
    id: 'run',
    title: 'Run',
    width: 'minmax(160px, 1fr)',
    narrow: 'title',
    cell: ({ run }) => <VisibleText text={run} />,
  },
  {
    id: 'ok',
    title: 'Record',
    width: '120px',
    narrow: 'side',
    cell: ({ ok }) => (ok ? <Badge tone="ok">intact</Badge> : <Badge tone="bad">damaged</Badge>),
  },
  { id: 'lines', title: 'Lines', width: '96px', align: 'end', cell: ({ lines }) => lines.toLocaleString('en') },
  { id: 'calls', title: 'Calls', width: '96px', align: 'end', cell: ({ calls }) => calls.toLocaleString('en') },
  {
    id: 'problems',
    title: 'Problems',
    width: 'minmax(160px, 2fr)',
    cell: ({ problems }) => <VisibleText text={problems.map(({ message }) => message).join(' ')} />,
  },
]

/** Whether the records are what was written. */
export default function AuditPage() {
  const query = useQuery('audit', () => api.audit.verify())
  return (
    <Page title="Audit" fill>
      <Loaded query={query}>
        {({ runs }) => <Table label="Records" rows={runs} columns={COLUMNS} rowKey={({ run }) => run} />}
      </Loaded>
    </Page>
  )
}
