import { KeyRound, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { TokenEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { showToast } from '../../components/show-toast.ts'
import { Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import styles from './audit.module.css'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { TOKEN_COLUMNS } from './token-columns.tsx'
import { type NewSecret, TokenSecretDialog } from './token-secret-dialog.tsx'

/** The keys that agents and people come in with. */
export function TokensView() {
  const [isNew, setNew] = useState(false)
  const [secret, setSecret] = useState<NewSecret>()
  const [doomed, setDoomed] = useState<TokenEntry>()
  const query = useQuery('tokens', () => api.tokens.list())
  useShortcut('i', 'New token', () => setNew(true))
  const columns = useMemo(() => {
    const revoke = (token: TokenEntry) => (
      <Button size="small" aria-label={`Revoke ${token.name}`} onClick={() => setDoomed(token)}>
        Revoke
      </Button>
    )
    return [...TOKEN_COLUMNS, { id: 'revoke', title: 'Revoke', width: '96px', narrow: 'plain' as const, cell: revoke }]
  }, [])
  const revoke = async () => {
    if (!doomed) return
    await api.tokens.revoke(doomed.id)
    refreshQueries('tokens')
    showToast({ title: `${doomed.name} is revoked`, description: 'Whoever has it is refused from now on.' })
  }
  const made = (fresh: NewSecret) => {
    setNew(false)
    setSecret(fresh)
    refreshQueries('tokens')
  }
  return (
    <div className={styles.view}>
      <div className={styles.row}>
        <Button variant="primary" icon={Plus} shortcut="i" onClick={() => setNew(true)}>
          New token
        </Button>
        <span className={styles.muted}>One for each agent and person, so that records name them.</span>
      </div>
      <Loaded query={query}>
        {(tokens) => (
          <Table
            label="Tokens"
            rows={tokens}
            columns={columns}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={KeyRound} title="No tokens yet">
                Make one for each agent: with New token, or with <code>tool-hub tokens add NAME</code>.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {isNew && <NewTokenDialog onClose={() => setNew(false)} onMade={made} />}
      <TokenSecretDialog secret={secret} onClose={() => setSecret(undefined)} />
      <ConfirmDialog
        isOpen={doomed !== undefined}
        onClose={() => setDoomed(undefined)}
        title="Revoke this token?"
        action="Revoke"
        failure="Not revoked"
        onConfirm={revoke}
      >
        {doomed && (
          <p>
            Whoever uses{' '}
            <strong>
              <VisibleText text={doomed.name} />
            </strong>{' '}
            is refused from now on, and its sessions end. This cannot be taken back; a new token has another secret.
          </p>
        )}
      </ConfirmDialog>
    </div>
  )
}
