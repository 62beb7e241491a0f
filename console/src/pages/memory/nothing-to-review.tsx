import { NotebookPen } from 'lucide-react'
import { EmptyState } from '../../components/empty-state.tsx'
import { Link } from '../../router/link.tsx'

/** Nothing waits: because of how memory is set, or because nothing was written. */
export function NothingToReview({ enabled, writeMode }: { enabled: boolean; writeMode: string }) {
  if (!enabled || writeMode === 'disabled') {
    return (
      <EmptyState icon={NotebookPen} title="Agents write no notes here">
        Set <code>memory.write_mode</code> to <code>candidate</code> in tool-hub.yaml, and what they want to remember
        waits here for you; docs/memory.md tells how.
      </EmptyState>
    )
  }
  if (writeMode === 'external') {
    return (
      <EmptyState icon={NotebookPen} title="Notes go into memory at once">
        <code>memory.write_mode</code> is <code>external</code>: nothing waits for review. What agents remember is under{' '}
        <Link to="/memory?view=notes">Notes</Link>.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={NotebookPen} title="Nothing to review">
      What an agent wants to remember, with the tool <code>core/memory.write</code>, waits here until somebody has
      looked at it: nobody recalls it before. <code>tool-hub memory review</code> does the same in a terminal.
    </EmptyState>
  )
}
