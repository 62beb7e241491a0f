import { History, Inbox } from 'lucide-react'
import { EmptyState } from '../../components/empty-state.tsx'
import { Link } from '../../router/link.tsx'

/** Nothing waits, or nothing was ever answered. */
export function InboxEmpty({ tab }: { tab: string }) {
  if (tab === 'past') {
    return (
      <EmptyState icon={History} title="Nothing was answered yet">
        Answers are kept here for a while; the <Link to="/audit">audit</Link> has all of them.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={Inbox} title="Nothing waits for you">
      Calls that a rule wants a person to see, and questions of tools, appear here. Leave the page open: its tab counts
      them. Which calls ask is said by the <Link to="/policy">policy</Link>.
    </EmptyState>
  )
}
