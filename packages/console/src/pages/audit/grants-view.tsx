import { KeyRound } from 'lucide-react'
import { refreshResources } from '../../api/query-client.ts'
import { api, useMe } from '../../api/session.ts'
import type { GrantEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { EffectBadge } from '../../components/badge.tsx'
import { ConfirmButton } from '../../components/dialog.tsx'
import { ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import styles from './audit.module.css'

/** Remembered answers: what they cover, for whom and how long. */
export function GrantsView() {
  const isAdmin = useMe().may('admin')
  const query = useResource(['grants'], () => api.grants.list(), { refreshOn: ['approval'] })
  return (
    <div className={styles.view}>
      <p className={styles.muted}>
        A remembered answer applies to later calls automatically.
        {!isAdmin && ' Revoking one requires the scope admin.'}
      </p>
      <ResourceTable
        query={query}
        label="Grants"
        rows={query.data ?? []}
        columns={isAdmin ? ADMIN_COLUMNS : GRANT_COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={KeyRound} title="There are no remembered answers">
            Choose “for this session” or “always” when you answer an approval, and it is listed here.
          </EmptyState>
        }
      />
    </div>
  )
}

function describeCoverage({ covers, targets, pattern, values = [], scripts = [] }: GrantEntry): string {
  if (pattern !== undefined) return pattern.shown
  if (covers === 'values')
    return `the approved values of ${values.map(({ argument }) => argument).join(', ')}, together`
  if (covers === 'targets') return targets.join(', ')
  const until = scripts.length === 0 ? '' : `, until ${scripts.map(({ name }) => name).join(' or ')} changes`
  return `the same arguments${until}`
}

/** What a grant covers, for whom and how long, and who gave it. */
const GRANT_COLUMNS: readonly Column<GrantEntry>[] = [
  {
    id: 'effect',
    title: 'Decision',
    width: '88px',
    narrow: 'side',
    cell: ({ effect }) => <EffectBadge effect={effect} />,
  },
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ tool }) => <VisibleText text={tool} />,
  },
  {
    id: 'covers',
    title: 'Covers',
    width: 'minmax(180px, 2fr)',
    cell: (grant) => {
      const { reason } = grant
      const what = describeCoverage(grant)
      return <VisibleText text={reason === undefined ? what : `${what} – ${reason}`} />
    },
  },
  {
    id: 'for',
    title: 'For',
    width: 'minmax(96px, 160px)',
    cell: ({ principal, session }) => (
      <VisibleText
        text={session === undefined ? (principal ?? 'everybody') : `${principal ?? 'session'}, ${session}`}
      />
    ),
  },
  { id: 'by', title: 'Created by', width: 'minmax(88px, 140px)', cell: ({ by }) => <VisibleText text={by} /> },
  {
    id: 'until',
    title: 'Valid until',
    width: '144px',
    cell: ({ until, session }) => {
      if (until !== undefined) return <Time at={until} />
      return session === undefined ? 'it is revoked' : 'the session ends'
    },
  },
  {
    id: 'created',
    title: 'Created',
    width: '112px',
    align: 'end',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

const ADMIN_COLUMNS: readonly Column<GrantEntry>[] = [
  ...GRANT_COLUMNS,
  { id: 'revoke', title: 'Revoke', width: '96px', narrow: 'plain', cell: (grant) => <RevokeGrant grant={grant} /> },
]

function RevokeGrant({ grant: { id, tool, targets, effect } }: { grant: GrantEntry }) {
  const revoke = async () => {
    await api.grants.revoke(id)
    refreshResources('grants')
    showToast({ title: 'Revoked', description: 'The next such call needs an approval again.' })
  }
  return (
    <ConfirmButton
      label="Revoke"
      size="small"
      aria-label={`Revoke the grant for ${tool}`}
      title="Revoke this grant?"
      failure="Not revoked"
      onConfirm={revoke}
    >
      <p>
        It no longer {effect === 'allow' ? 'allows' : 'denies'} calls of{' '}
        <strong>
          <VisibleText text={tool} />
        </strong>{' '}
        on <VisibleText text={targets.join(', ') || 'the same arguments'} />: the rules decide, and a person where they
        ask for one. Calls that are already running continue.
      </p>
    </ConfirmButton>
  )
}
