import { Link } from 'wouter'
import type { CallEntry } from '../api/types.ts'
import { StatusBadge } from '../components/badge.tsx'
import type { Column } from '../components/table.tsx'
import { VisibleText } from '../components/text.tsx'
import { Duration, Time } from '../components/time.tsx'
import { describeCall, runPath } from './call.ts'

/** The columns of a list of calls; pages select some of them and add their own. */
export const CALL_COLUMNS: readonly Column<CallEntry>[] = [
  {
    id: 'status',
    title: 'Status',
    width: '140px',
    narrow: 'side',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(160px, 1fr)',
    narrow: 'title',
    cell: ({ tool }) => <VisibleText text={tool} />,
  },
  {
    id: 'summary',
    title: 'What',
    narrow: 'plain',
    width: 'minmax(160px, 2fr)',
    cell: (call) => <VisibleText text={describeCall(call)} />,
  },
  {
    id: 'caller',
    title: 'Caller',
    narrow: 'meta',
    width: 'minmax(96px, 160px)',
    cell: ({ caller, principal }) => <VisibleText text={principal ?? caller} />,
  },
  {
    id: 'run',
    title: 'Run',
    width: '120px',
    narrow: 'hidden',
    cell: ({ run }) => <Link to={runPath(run)}>{run}</Link>,
  },
  {
    id: 'duration',
    title: 'Took',
    narrow: 'meta',
    width: '88px',
    align: 'end',
    cell: ({ durationMs }) => <Duration ms={durationMs} />,
  },
  {
    id: 'started',
    title: 'Started',
    narrow: 'meta',
    width: '112px',
    align: 'end',
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
]
