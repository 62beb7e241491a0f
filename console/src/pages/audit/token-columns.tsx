import type { TokenEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { describeLimits } from './describe-limits.ts'

/** What a token may, and when it was used. */
export const TOKEN_COLUMNS: readonly Column<TokenEntry>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(120px, 1fr)',
    wraps: true,
    narrow: 'title',
    cell: ({ name }) => <VisibleText text={name} />,
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
    width: '128px',
    wraps: true,
    cell: ({ expiresAt }) => {
      if (expiresAt === undefined) return 'never'
      return expiresAt > Date.now() ? <Time at={expiresAt} /> : <Badge tone="warn">expired</Badge>
    },
  },
  {
    id: 'used',
    title: 'Last used',
    width: '112px',
    align: 'end',
    cell: ({ usedAt }) => (usedAt === undefined ? 'never' : <Time at={usedAt} />),
  },
  {
    id: 'created',
    title: 'Made',
    width: '112px',
    align: 'end',
    narrow: 'hidden',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]
