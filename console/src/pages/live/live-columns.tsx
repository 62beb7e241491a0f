import type { CallEntry } from '../../api/types.ts'
import { CALL_COLUMNS } from '../../calls/call-columns.tsx'
import type { Column } from '../../components/table.tsx'
import { TookCell } from './took-cell.tsx'

/** The columns of calls, with bars for how long they took; the run is a press away. */
export const LIVE_COLUMNS: readonly Column<CallEntry>[] = CALL_COLUMNS.filter(({ id }) => id !== 'run').map((column) =>
  column.id === 'duration' ? { ...column, width: '104px', cell: (call) => <TookCell call={call} /> } : column,
)
