import { Download, NotebookPen } from 'lucide-react'
import { useState } from 'react'
import { MEMORY_SCOPES } from '../../../../src/contracts/memory.ts'
import type { MemoryNoteEntry, MemoryScope } from '../../api/types.ts'
import buttonStyles from '../../components/button.module.css'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { useSearchParam } from '../../router/router.ts'
import { useSettled } from '../../state/use-settled.ts'
import styles from './memory.module.css'
import { NoteDrawer } from './note-drawer.tsx'
import { NoteTable } from './note-table.tsx'

/** What agents remember: to look through, to forget, to take along. */
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
      title="All notes, a JSON value a line; tool-hub memory import takes them back"
    >
      <Download size={15} aria-hidden="true" /> Export
    </a>
  )
}

function NoNotes() {
  return (
    <EmptyState icon={NotebookPen} title="No notes yet">
      Agents write notes with the tool <code>core/memory.write</code>; promoted under “To review”, they are recalled
      from here on. <code>tool-hub memory import</code> brings in those of another hub.
    </EmptyState>
  )
}

function NoneSo({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon={NotebookPen} title="No note fits" action={<Button onClick={onClear}>Show all notes</Button>}>
      Try fewer words, or every scope.
    </EmptyState>
  )
}
