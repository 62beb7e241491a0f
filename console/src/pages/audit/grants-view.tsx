import { KeyRound } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { GrantEntry } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { showToast } from '../../components/show-toast.ts'
import { Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './audit.module.css'
import { GRANT_COLUMNS } from './grant-columns.tsx'

/** Answers that are remembered: what they let through, for whom and how long. */
export function GrantsView() {
  const isAdmin = useMe().may('admin')
  const [doomed, setDoomed] = useState<GrantEntry>()
  const query = useQuery('grants', () => api.grants.list(), { refreshOn: ['approval'] })
  const columns = useMemo(() => {
    if (!isAdmin) return GRANT_COLUMNS
    const revoke = (grant: GrantEntry) => (
      <Button size="small" aria-label={`Revoke the grant for ${grant.tool}`} onClick={() => setDoomed(grant)}>
        Revoke
      </Button>
    )
    return [...GRANT_COLUMNS, { id: 'revoke', title: 'Revoke', width: '96px', narrow: 'plain' as const, cell: revoke }]
  }, [isAdmin])
  const revoke = async () => {
    if (!doomed) return
    await api.grants.revoke(doomed.id)
    refreshQueries('grants')
    showToast({ title: 'Revoked', description: 'The next such call is asked again.' })
  }
  return (
    <div className={styles.view}>
      <p className={styles.muted}>
        An approval that was remembered answers later calls by itself.
        {!isAdmin && ' To revoke one you need the scope admin.'}
      </p>
      <Loaded query={query}>
        {(grants) => (
          <Table
            label="Grants"
            rows={grants}
            columns={columns}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={KeyRound} title="No answer is remembered">
                Choose “for this session” or “always” when you answer an approval, and it is listed here.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      <ConfirmDialog
        isOpen={doomed !== undefined}
        onClose={() => setDoomed(undefined)}
        title="Revoke this grant?"
        action="Revoke"
        failure="Not revoked"
        onConfirm={revoke}
      >
        {doomed && (
          <p>
            Calls of{' '}
            <strong>
              <VisibleText text={doomed.tool} />
            </strong>{' '}
            on <VisibleText text={doomed.targets.join(', ') || 'the same arguments'} /> are not{' '}
            {doomed.effect === 'allow' ? 'allowed' : 'denied'} by it any more: the rules decide, and a person where they
            ask. Calls that run already go on.
          </p>
        )}
      </ConfirmDialog>
    </div>
  )
}
