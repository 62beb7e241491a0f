import { Check, Download, NotebookPen, Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { refreshResources } from '../../api/query-client.ts'
import { api, useMe } from '../../api/session.ts'
import type { MemoryNoteEntry, MemoryScope } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { useAction } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import buttonStyles from '../../components/button.module.css'
import { Button } from '../../components/button.tsx'
import { ConfirmButton, Drawer } from '../../components/dialog.tsx'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { Code, VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import { useCalm } from '../../lib/calm.ts'
import { classNames } from '../../lib/class-names.ts'
import { useSettled } from '../../lib/hooks.ts'
import { useSearchParam } from '../../router/router.ts'
import styles from './memory.module.css'
import { MEMORY_SCOPES, NoteFacts, Trust } from './note-facts.tsx'
import { findDuplicates } from './notes.ts'

/** The notes that agents remember, with search and export. */
export function NotesView() {
  const [text, setText] = useSearchParam('q')
  const [scopeText, setScope] = useSearchParam('scope')
  const [opened, setOpened] = useState<MemoryNoteEntry>()
  const [summary, setSummary] = useState('')
  const query = useSettled(text.trim())
  const scope = MEMORY_SCOPES.find((known) => known === scopeText)
  return (
    <div className={styles.view}>
      <FilterBar summary={summary}>
        <SearchField label="Search notes" value={text} onChange={setText} />
        <FilterSelect
          label="Scope"
          value={scope ?? ''}
          options={[['', 'Every scope'], ...MEMORY_SCOPES.map((known) => [known, known] as const)]}
          onChange={setScope}
        />
        <ExportLink scope={scope} />
      </FilterBar>
      <NoteTable
        key={`${scope} ${query}`}
        query={query}
        scope={scope}
        onOpen={setOpened}
        onCount={setSummary}
        empty={
          query === '' && scope === undefined ? (
            <NoNotes />
          ) : (
            <NoneSo
              onClear={() => {
                setText('')
                setScope('')
              }}
            />
          )
        }
      />
      {opened && <NoteDrawer note={opened} onClose={() => setOpened(undefined)} />}
    </div>
  )
}

function ExportLink({ scope }: { scope: MemoryScope | undefined }) {
  return (
    <a
      className={classNames(buttonStyles.button, buttonStyles.secondary, buttonStyles.normal, styles.link)}
      href={scope === undefined ? '/v1/memory/export' : `/v1/memory/export?scope=${scope}`}
      download="memory.jsonl"
      title="All notes as JSON lines; tool-hub memory import reads them"
    >
      <Download size={15} aria-hidden="true" /> Export
    </a>
  )
}

function NoNotes() {
  return (
    <EmptyState icon={NotebookPen} title="No notes yet">
      Agents write notes with the tool <code>core/memory.write</code>; once they are promoted under “To review”, agents
      can recall them. <code>tool-hub memory import</code> imports those of another hub.
    </EmptyState>
  )
}

function NoneSo({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon={NotebookPen} title="No note matches" action={<Button onClick={onClear}>Show all notes</Button>}>
      Try fewer words, or every scope.
    </EmptyState>
  )
}

interface NoteTableProps {
  readonly query: string
  readonly scope: MemoryScope | undefined
  readonly onOpen: (note: MemoryNoteEntry) => void
  /** Called with the number of notes, as text. */
  readonly onCount: (words: string) => void
  readonly empty: ReactNode
}

const PAGE = 100

/** The best matches of a search, or all notes, newest first. */
function NoteTable({ query: text, scope, onOpen, onCount, empty }: NoteTableProps) {
  const { query, items, hasMore, loadMore } = usePages(
    ['memory', 'notes', scope, text],
    async (before?: number) => {
      const { notes, next } = await api.memory.notes({ query: text || undefined, scope, before, limit: PAGE })
      return { items: notes, next }
    },
    {
      what: 'notes',
      // Search results are one page, sorted by the service.
      compare: text === '' ? newestFirst : () => 0,
      feature: 'memory',
    },
  )
  const rows = useMemo(() => {
    const duplicates = findDuplicates(items.toSorted(newestFirst))
    return items.map((note) => ({ ...note, isDuplicate: duplicates.has(note.id) }))
  }, [items])
  const count = `${items.length.toLocaleString('en')}${hasMore ? '+' : ''}`
  const words = query.data === undefined ? '' : `${count} ${count === '1' ? 'note' : 'notes'}`
  useEffect(() => onCount(words), [words, onCount])
  return (
    <ResourceTable
      query={query}
      label="Notes"
      rows={rows}
      columns={NOTE_COLUMNS}
      rowKey={({ id }) => id}
      onOpen={onOpen}
      onEnd={loadMore}
      empty={empty}
    />
  )
}

function newestFirst(a: MemoryNoteEntry, b: MemoryNoteEntry): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)
}

const MAX_PREVIEW = 300

/** A note, and whether it duplicates an older one. */
type NoteRow = MemoryNoteEntry & { readonly isDuplicate: boolean }

/** The columns of the list of notes. */
const NOTE_COLUMNS: readonly Column<NoteRow>[] = [
  {
    id: 'content',
    title: 'Note',
    width: 'minmax(240px, 3fr)',
    narrow: 'title',
    cell: ({ content, isDuplicate }) => (
      <>
        {isDuplicate && <Badge>duplicate</Badge>} <VisibleText text={content.slice(0, MAX_PREVIEW)} />
      </>
    ),
  },
  {
    id: 'trust',
    title: 'Trust',
    width: '128px',
    narrow: 'side',
    cell: ({ origin }) => <Trust isTainted={origin.tainted} isReviewed={origin.reviewed} />,
  },
  { id: 'scope', title: 'Scope', width: '80px', narrow: 'meta', cell: ({ scope }) => scope },
  {
    id: 'tags',
    title: 'Tags',
    width: 'minmax(80px, 1fr)',
    narrow: 'plain',
    cell: ({ tags }) => <VisibleText text={tags.map((tag) => `#${tag}`).join(' ')} />,
  },
  {
    id: 'by',
    title: 'Written by',
    width: 'minmax(96px, 160px)',
    narrow: 'meta',
    cell: ({ origin }) => <VisibleText text={origin.principal ?? origin.caller ?? 'unknown'} />,
  },
  {
    id: 'updated',
    title: 'Changed',
    width: '128px',
    align: 'end',
    narrow: 'meta',
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
  },
]

/** A note with its origin. It can be marked as reviewed, and forgotten. */
function NoteDrawer({ note, onClose }: { note: MemoryNoteEntry; onClose: () => void }) {
  const { may, principal } = useMe()
  const calm = useCalm(JSON.stringify(note))
  const mayAccept = may('approve') && !note.origin.reviewed && note.origin.principal !== principal.name
  const forget = async () => {
    await api.memory.forget(note.id)
    refreshResources('memory')
    showToast({ title: 'Forgotten', description: 'No agent recalls it any more.' })
    onClose()
  }
  const accept = useAction(
    async () => {
      await api.memory.promote(note.id)
      showToast({ title: 'Reviewed', description: 'Agents may rely on it.' })
      onClose()
    },
    { failure: 'Not marked as reviewed', refreshes: ['memory'] },
  )
  const actions = [
    mayAccept && (
      <Button key="accept" icon={Check} isBusy={accept.isBusy} calm={calm} onClick={() => void accept.run()}>
        Mark as reviewed
      </Button>
    ),
    may('admin') && (
      <ConfirmButton
        key="forget"
        label="Forget"
        variant="danger"
        icon={Trash2}
        title="Forget this note?"
        failure="Not forgotten"
        onConfirm={forget}
      >
        <p>No agent can recall it any more. This cannot be undone; the record of the call that wrote it stays.</p>
      </ConfirmButton>
    ),
  ].filter(Boolean)
  return (
    <Drawer isOpen onClose={onClose} title="Note" footer={actions.length > 0 ? actions : undefined}>
      <Code text={note.content} label="Note" />
      <NoteFacts note={note} />
    </Drawer>
  )
}
