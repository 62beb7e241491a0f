import { useState } from 'react'
import type { Health } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Duration } from '../../components/duration.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './health.module.css'

type ToolHealth = Health['tools'][number]

const SHOWN_AT_FIRST = 10

const COLUMNS: readonly PlainColumn<ToolHealth>[] = [
  {
    id: 'tool',
    title: 'Tool',
    isName: true,
    isWide: true,
    cell: ({ tool }) => (
      <Link to={`/audit?view=calls&within=hour&tool=${encodeURIComponent(tool)}`}>
        <VisibleText text={tool} />
      </Link>
    ),
  },
  { id: 'calls', title: 'Calls', align: 'end', cell: ({ calls }) => calls.toLocaleString('en') },
  {
    id: 'failures',
    title: 'Failures',
    align: 'end',
    cell: ({ failures }) => (failures === 0 ? '0' : <Badge tone="bad">{failures.toLocaleString('en')}</Badge>),
  },
  {
    id: 'share',
    title: 'Failed',
    align: 'end',
    cell: ({ calls, failures }) => `${calls === 0 ? 0 : Math.round((failures / calls) * 100)} %`,
  },
  { id: 'denials', title: 'Denied', align: 'end', cell: ({ denials }) => denials.toLocaleString('en') },
  { id: 'mean', title: 'Mean time', align: 'end', cell: ({ meanMs }) => <Duration ms={meanMs} /> },
]

/** Which tools fail and how often, the worst first. */
export function ToolSection({ tools }: Pick<Health, 'tools'>) {
  const [isWhole, setWhole] = useState(false)
  const sorted = tools.toSorted((a, b) => b.failures - a.failures || b.calls - a.calls)
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN_AT_FIRST)
  return (
    <Section title="Errors by tool" actions={<span className={styles.about}>last hour</span>}>
      {tools.length === 0 && <p className={styles.muted}>No tool was called in the last hour.</p>}
      {tools.length > 0 && (
        <PlainTable label="Errors by tool" rows={shown} columns={COLUMNS} rowKey={({ tool }) => tool} />
      )}
      {shown.length < sorted.length && (
        <div>
          <Button size="small" onClick={() => setWhole(true)}>
            Show all {sorted.length} tools
          </Button>
        </div>
      )}
    </Section>
  )
}
