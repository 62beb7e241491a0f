import { api } from '../../api/session.ts'
import type { ChannelEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Section } from '../../components/page.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Loaded, ViewsPage } from '../../components/resource.tsx'
import { VisibleText } from '../../components/text.tsx'
import type { PageProps } from '../../router/routes.tsx'
import styles from './inbox.module.css'
import { MessagesView } from './messages-view.tsx'

/** Messages from agents, and the channels that they can use. */
export default function InboxPage({ params: { id } }: PageProps) {
  return (
    <ViewsPage
      title="Inbox"
      fill
      label="Views of the inbox"
      views={[
        { id: 'messages', title: 'Messages', content: <MessagesView id={id} /> },
        { id: 'channels', title: 'Channels', content: <ChannelsView /> },
      ]}
    />
  )
}

const COLUMNS: readonly PlainColumn<ChannelEntry>[] = [
  { id: 'name', title: 'Name', isName: true, cell: ({ name }) => <VisibleText text={name} /> },
  { id: 'kind', title: 'Kind', cell: ({ kind }) => <VisibleText text={kind} /> },
  {
    id: 'about',
    title: 'Destination',
    isWide: true,
    cell: ({ description, recipients, problem }) => (
      <>
        <VisibleText text={problem ?? description} />
        {problem === undefined && recipients !== undefined && (
          <span className={styles.muted}>
            {' '}
            (<VisibleText text={recipients} />)
          </span>
        )}
      </>
    ),
  },
  { id: 'can', title: 'Supports', cell: ({ can }) => can.join(', ') || '–' },
  {
    id: 'state',
    title: 'State',
    cell: ({ problem }) =>
      problem === undefined ? <Badge tone="ok">ready</Badge> : <Badge tone="bad">not ready</Badge>,
  },
]

/** The channels that agents can use, and what each supports. */
function ChannelsView() {
  const query = useResource(['channels'], () => api.inbox.channels())
  return (
    <Section title="Channels">
      <p className={styles.muted}>
        Set under <code>messages.channels</code> in tool-hub.yaml. By default, a message to people requires approval.
      </p>
      <Loaded query={query}>
        {(channels) => <PlainTable label="Channels" rows={channels} columns={COLUMNS} rowKey={({ name }) => name} />}
      </Loaded>
    </Section>
  )
}
