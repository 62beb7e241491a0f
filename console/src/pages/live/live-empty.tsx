import type { LucideIcon } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Link } from '../../router/link.tsx'

/** No calls: none at all yet, or none that fits. */
export function LiveEmpty({
  icon,
  isFiltered,
  onClear,
}: {
  icon: LucideIcon
  isFiltered: boolean
  onClear: () => void
}) {
  if (isFiltered) {
    return (
      <EmptyState icon={icon} title="No call fits" action={<Button onClick={onClear}>Clear filters</Button>}>
        None on record is like this. New ones that fit appear here as they happen.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={icon} title="No calls yet">
      Connect an agent to <code>{window.location.origin}/mcp</code> with a token from{' '}
      <code>tool-hub tokens add NAME</code>, or <Link to="/tools">try a tool</Link>. Calls appear here as they happen.
    </EmptyState>
  )
}
