import { api } from '../../api/api.ts'
import type { ChannelEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Badge } from '../../components/badge.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './inbox.module.css'

const COLUMNS: readonly PlainColumn<ChannelEntry>[] = [
  { id: 'name', title: 'Name', isName: true, cell: ({ name }) => <VisibleText text={name} /> },
  { id: 'kind', title: 'Kind', cell: ({ kind }) => <VisibleText text={kind} /> },
  {
    id: 'about',
    title: 'Reaches',
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
  { id: 'can', title: 'Can', cell: ({ can }) => can.join(', ') || '–' },
  {
    id: 'state',
    title: 'State',
    cell: ({ problem }) =>
      problem === undefined ? <Badge tone="ok">ready</Badge> : <Badge tone="bad">not ready</Badge>,
  },
]

/** The ways that agents have to people, and what each can. */
export function ChannelsView() {
  const query = useQuery('channels', () => api.inbox.channels())
  return (
    <Section title="Ways to people">
      <p className={styles.muted}>
        Set under <code>messages.channels</code> in tool-hub.yaml; a message to people asks first unless a rule says
        otherwise.
      </p>
      <Loaded query={query}>
        {(channels) => <PlainTable label="Channels" rows={channels} columns={COLUMNS} rowKey={({ name }) => name} />}
      </Loaded>
    </Section>
  )
}
