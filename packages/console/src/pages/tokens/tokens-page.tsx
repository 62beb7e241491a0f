import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { refreshResources } from '../../api/query-client.ts'
import { api, useMe } from '../../api/session.ts'
import type { TokenEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmButton } from '../../components/dialog.tsx'
import { Note } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import { useShortcut } from '../../lib/shortcuts.ts'
import styles from '../audit/audit.module.css'
import { type NewSecret, NewTokenDialog, TokenSecretDialog } from './new-token-dialog.tsx'
import { describeLimits } from './token-form.ts'

/** The tokens that agents and people sign in with. */
export default function TokensPage() {
  const isAdmin = useMe().may('admin')
  return (
    <Page title="Tokens" description="What agents and people sign in with, and what each may do." fill>
      {isAdmin ? <TokensView /> : <Note tone="info" title="Viewing and changing tokens requires the scope admin." />}
    </Page>
  )
}

/** The list of tokens. */
function TokensView() {
  const [isNew, setNew] = useState(false)
  const [secret, setSecret] = useState<NewSecret>()
  const query = useResource(['tokens'], () => api.tokens.list())
  useShortcut('i', 'New token', () => setNew(true))
  const made = (fresh: NewSecret) => {
    setNew(false)
    setSecret(fresh)
  }
  const columns: readonly Column<TokenEntry>[] = [
    ...TOKEN_COLUMNS,
    {
      id: 'rotate',
      title: 'Rotate',
      width: '96px',
      narrow: 'plain',
      cell: (token) => <RotateToken token={token} onMade={setSecret} />,
    },
    { id: 'revoke', title: 'Revoke', width: '96px', narrow: 'plain', cell: (token) => <RevokeToken token={token} /> },
  ]
  return (
    <div className={styles.view}>
      <div className={styles.row}>
        <Button variant="primary" icon={Plus} shortcut="i" onClick={() => setNew(true)}>
          New token
        </Button>
        <span className={styles.muted}>One for each agent and person, so that the records identify them.</span>
      </div>
      <ResourceTable
        query={query}
        label="Tokens"
        rows={query.data ?? []}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={KeyRound} title="No tokens yet">
            Create one for each agent with New token, or with <code>tool-hub tokens add NAME</code>.
          </EmptyState>
        }
      />
      {isNew && <NewTokenDialog onClose={() => setNew(false)} onMade={made} />}
      <TokenSecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </div>
  )
}

/** The columns of the list of tokens. */
const TOKEN_COLUMNS: readonly Column<TokenEntry>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(120px, 1fr)',
    wraps: true,
    narrow: 'title',
    cell: ({ name, previous }) => (
      <>
        <VisibleText text={name} />
        {previous && <PreviousSecret previous={previous} />}
      </>
    ),
  },
  { id: 'scopes', title: 'May', width: 'minmax(96px, 160px)', wraps: true, cell: ({ scopes }) => scopes.join(', ') },
  {
    id: 'limits',
    title: 'Limits',
    width: 'minmax(160px, 2fr)',
    wraps: true,
    cell: (token) => <VisibleText text={describeLimits(token)} />,
  },
  {
    id: 'expires',
    title: 'Expires',
    width: '112px',
    cell: ({ expiresAt }) => {
      if (expiresAt === undefined) return 'never'
      return expiresAt > Date.now() ? <Time at={expiresAt} isBrief /> : <Badge tone="warn">expired</Badge>
    },
  },
  {
    id: 'used',
    title: 'Last used',
    width: '112px',
    align: 'end',
    cell: ({ usedAt }) => (usedAt === undefined ? 'never' : <Time at={usedAt} isBrief />),
  },
  {
    id: 'created',
    title: 'Created',
    width: '112px',
    align: 'end',
    narrow: 'hidden',
    cell: ({ createdAt }) => <Time at={createdAt} isBrief />,
  },
]

/** The secret before the last rotation, which is still valid. */
function PreviousSecret({ previous }: { previous: NonNullable<TokenEntry['previous']> }) {
  const { expiresAt, usedAt } = previous
  return (
    <p className={styles.muted}>
      Previous secret until <Time at={expiresAt} />, {usedAt === undefined ? 'never used' : <UsedAt at={usedAt} />}
    </p>
  )
}

function UsedAt({ at }: { at: number }) {
  return (
    <>
      last used <Time at={at} />
    </>
  )
}

function RotateToken({ token, onMade }: { token: TokenEntry; onMade: (fresh: NewSecret) => void }) {
  const { id, name, previous } = token
  // A token has two secrets at most.
  if (previous) return null
  const rotate = async () => {
    const { secret } = await api.tokens.rotate(id)
    refreshResources('tokens')
    onMade({ name, secret })
  }
  return (
    <ConfirmButton
      label="Rotate"
      size="small"
      aria-label={`Rotate ${name}`}
      title="Give this token a new secret?"
      failure="Not rotated"
      onConfirm={rotate}
    >
      <p>
        The new secret of{' '}
        <strong>
          <VisibleText text={name} />
        </strong>{' '}
        is shown once. The current one stays valid for 24 hours.
      </p>
    </ConfirmButton>
  )
}

function RevokeToken({ token: { id, name } }: { token: TokenEntry }) {
  const revoke = async () => {
    await api.tokens.revoke(id)
    refreshResources('tokens')
    showToast({ title: `${name} is revoked`, description: 'Requests with it are refused from now on.' })
  }
  return (
    <ConfirmButton
      label="Revoke"
      size="small"
      aria-label={`Revoke ${name}`}
      title="Revoke this token?"
      failure="Not revoked"
      onConfirm={revoke}
    >
      <p>
        Requests with{' '}
        <strong>
          <VisibleText text={name} />
        </strong>{' '}
        are refused from now on, and its sessions end. This cannot be undone; a new token has another secret.
      </p>
    </ConfirmButton>
  )
}
