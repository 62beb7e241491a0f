import { Inbox, MailCheck } from 'lucide-react'
import { EmptyState } from '../../components/empty-state.tsx'
import { Link } from '../../router/link.tsx'

/** Nothing was said yet, or everything is read. */
export function InboxEmpty({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <EmptyState icon={MailCheck} title="Nothing is unread">
        New messages appear here as they come. <Link to="/inbox">Show all messages</Link>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={Inbox} title="No messages yet">
      What agents send to people on the channel <code>console</code> appears here, with the tool{' '}
      <code>core/message.send</code>. Other ways to people are set under <code>messages.channels</code> in
      tool-hub.yaml; docs/messages.md tells how.
    </EmptyState>
  )
}
