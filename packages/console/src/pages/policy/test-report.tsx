import { ArrowRight } from 'lucide-react'
import type { PolicyTestReport } from '../../api/types.ts'
import { Badge, EffectBadge } from '../../components/badge.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { navigate } from '../../router/router.ts'
import styles from './policy.module.css'
import { countChanges, isLooser } from './text-edits.ts'

type Change = PolicyTestReport['changed'][number]

const COLUMNS: readonly Column<Change>[] = [
  {
    id: 'change',
    title: 'Before → after',
    width: '240px',
    narrow: 'plain',
    cell: (change) => (
      <span className={styles.effects}>
        <EffectBadge effect={change.before} />
        <ArrowRight size={12} aria-label="becomes" />
        <EffectBadge effect={change.after} />
        {isLooser(change) && <Badge tone="warn">looser</Badge>}
      </span>
    ),
  },
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ call }) => <VisibleText text={call.tool} />,
  },
  {
    id: 'what',
    title: 'On',
    width: 'minmax(140px, 1.5fr)',
    cell: ({ call }) => <VisibleText text={call.targets?.join(', ') ?? call.summary ?? ''} />,
  },
  {
    id: 'rule',
    title: 'By rule',
    width: 'minmax(140px, 1.5fr)',
    cell: ({ rule, reason }) => (
      <span title={reason}>
        <VisibleText text={rule} />
      </span>
    ),
  },
  {
    id: 'caller',
    title: 'Caller',
    width: 'minmax(80px, 120px)',
    narrow: 'meta',
    cell: ({ call }) => <VisibleText text={call.principal ?? call.caller} />,
  },
  {
    id: 'started',
    title: 'Started',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ call }) => <Time at={call.startedAt} />,
  },
]

/** How the changed rules would have decided about past calls. */
export function TestReport({ report: { checked, skipped, changed } }: { report: PolicyTestReport }) {
  const looser = changed.filter(isLooser).length
  return (
    <Section title="Test on past calls">
      <p aria-live="polite">
        <strong>{checked.toLocaleString('en')} calls checked</strong>, {skipped.toLocaleString('en')} skipped (arguments
        not fully recorded, or the tool no longer exists).{' '}
        {changed.length === 0
          ? 'No decision would change.'
          : `${changed.length.toLocaleString('en')} decisions would change: ${countChanges(changed)}.`}
      </p>
      {checked === 0 && (
        <Note tone="info" title="There were no calls to test the rules on">
          <p>You can save them anyway; Explain shows the decision about a single call.</p>
        </Note>
      )}
      {looser > 0 && (
        <Note tone="warn" title={`${looser.toLocaleString('en')} of them would be decided less strictly than now`}>
          <p>Make sure that this is what you want; they are marked “looser”.</p>
        </Note>
      )}
      {changed.length > 0 && (
        <div className={styles.changes}>
          <Table
            label="Calls whose decision would change"
            rows={changed}
            columns={COLUMNS}
            rowKey={({ call }) => call.callId}
            tone={(change) => (isLooser(change) ? 'warn' : undefined)}
            onOpen={({ call }) => navigate(`/runs/${encodeURIComponent(call.run)}/${encodeURIComponent(call.callId)}`)}
          />
        </div>
      )}
    </Section>
  )
}
