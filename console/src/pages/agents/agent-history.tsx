import { api } from '../../api/api.ts'
import type { AgentHistory as History } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import styles from './agents.module.css'
import { HistoryEntry } from './history-entry.tsx'

type Entry = History['entries'][number]

const PAGE = 30

/** What happened in a session, oldest first: its calls, and what was written to it and by it. */
export function AgentHistory({ id }: { id: string }) {
  const { query, items, hasMore, loadMore } = usePages(
    `agents history ${id}`,
    async (before?: string) => {
      const { entries, earlier } = await api.agents.history(id, { before, limit: PAGE })
      return { items: entries.map((entry) => ({ id: idOf(entry), entry })), next: earlier }
    },
    {
      what: 'entries',
      compare: oldestFirst,
      keepsGone: true,
      refreshOn: ['ability-changed', 'call'],
      ability: 'sessions',
      run: id,
    },
  )
  return (
    <Loaded query={query}>
      {() => (
        <>
          {hasMore && (
            <Button variant="quiet" size="small" onClick={loadMore}>
              Show what came earlier
            </Button>
          )}
          {items.length === 0 && <p className={styles.muted}>Nothing has happened yet.</p>}
          <ol className={styles.list} aria-label="History">
            {items.map(({ id: key, entry }) => (
              <HistoryEntry key={key} entry={entry} session={id} />
            ))}
          </ol>
        </>
      )}
    </Loaded>
  )
}

function idOf(entry: Entry): string {
  return entry.type === 'call' ? `call ${entry.callId}` : `message ${entry.message.id}`
}

function oldestFirst(a: { entry: Entry }, b: { entry: Entry }): number {
  return Date.parse(a.entry.at) - Date.parse(b.entry.at)
}
