import type { GrantEntry } from '../../api/types.ts'
import { EffectBadge } from '../../components/effect-badge.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'

/** What a grant covers, for whom and how long, and who gave it. */
export const GRANT_COLUMNS: readonly Column<GrantEntry>[] = [
  {
    id: 'effect',
    title: 'Effect',
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
    cell: ({ covers, targets, pattern, reason }) => {
      const what = covers === 'exact' ? 'the very same arguments' : (pattern?.shown ?? targets.join(', '))
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
  { id: 'by', title: 'Given by', width: 'minmax(88px, 140px)', cell: ({ by }) => <VisibleText text={by} /> },
  {
    id: 'until',
    title: 'Holds until',
    width: '144px',
    cell: ({ until, session }) => {
      if (until !== undefined) return <Time at={until} />
      return session === undefined ? 'it is revoked' : 'the session ends'
    },
  },
  {
    id: 'created',
    title: 'Given',
    width: '112px',
    align: 'end',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]
