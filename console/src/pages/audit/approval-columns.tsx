import { Check } from 'lucide-react'
import type { Approval } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Duration } from '../../components/duration.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { outcomeOf } from './outcome-of.ts'

/** Who answered an approval, and what. */
export const APPROVAL_COLUMNS: readonly Column<Approval>[] = [
  {
    id: 'outcome',
    title: 'Outcome',
    width: '112px',
    narrow: 'side',
    cell: (approval) => {
      const outcome = outcomeOf(approval)
      if (outcome !== 'allowed') return <StatusBadge status={outcome} />
      return (
        <Badge tone="ok" icon={Check}>
          allowed
        </Badge>
      )
    },
  },
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ tool }) => <VisibleText text={tool} />,
  },
  {
    id: 'targets',
    title: 'On',
    width: 'minmax(160px, 2fr)',
    narrow: 'plain',
    cell: ({ targets, reason }) => <VisibleText text={targets.length > 0 ? targets.join(', ') : reason} />,
  },
  {
    id: 'caller',
    title: 'Asked by',
    width: 'minmax(96px, 128px)',
    cell: ({ caller }) => <VisibleText text={caller} />,
  },
  {
    id: 'by',
    title: 'Answered by',
    width: 'minmax(96px, 128px)',
    cell: ({ answered }) => <VisibleText text={answered?.by ?? 'nobody'} />,
  },
  { id: 'via', title: 'Via', width: '88px', cell: ({ answered }) => <VisibleText text={answered?.via ?? '–'} /> },
  {
    id: 'asked',
    title: 'Asked',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ askedAt }) => <Time at={askedAt} />,
  },
  {
    id: 'waited',
    title: 'Waited',
    width: '96px',
    align: 'end',
    narrow: 'hidden',
    cell: ({ askedAt, answered }) => (
      <Duration ms={answered && Math.max(0, Date.parse(answered.at) - Date.parse(askedAt))} />
    ),
  },
]
