import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { ChannelsView } from './channels-view.tsx'
import { MessagesView } from './messages-view.tsx'

/** What agents told the people at the console, and the other ways they have to people. */
export default function InboxPage({ params: { id } }: PageProps) {
  const [view, setView] = useSearchParam('view', 'messages')
  return (
    <Page title="Inbox" fill>
      <Tabs
        label="Views of the inbox"
        fill
        selected={view}
        onSelect={setView}
        tabs={[
          { id: 'messages', title: 'Messages', content: <MessagesView id={id} /> },
          { id: 'channels', title: 'Channels', content: <ChannelsView /> },
        ]}
      />
    </Page>
  )
}
