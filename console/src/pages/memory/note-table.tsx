import { type ReactNode, useEffect, useMemo } from 'react'
import { api } from '../../api/api.ts'
import type { MemoryNoteEntry, MemoryScope } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Table } from '../../components/table.tsx'
import { findDuplicates } from './find-duplicates.ts'
import { NOTE_COLUMNS } from './note-columns.tsx'

interface NoteTableProps {
  readonly query: string
  readonly scope: MemoryScope | undefined
  readonly onOpen: (note: MemoryNoteEntry) => void
  /** How many are shown, in words. */
  readonly onCount: (words: string) => void
  readonly empty: ReactNode
}

const PAGE = 100

/** The notes that fit best, or all of them, newest first. */
export function NoteTable({ query: text, scope, onOpen, onCount, empty }: NoteTableProps) {
  const { query, items, hasMore, loadMore } = usePages(
    `memory notes ${scope ?? ''} ${text}`,
    async (before?: number) => {
      const { notes, next } = await api.memory.notes({ query: text || undefined, scope, before, limit: PAGE })
      return { items: notes, next }
    },
    {
      what: 'notes',
      // What is found comes in one page, in an order that only the service knows.
      compare: text === '' ? newestFirst : () => 0,
      refreshOn: ['ability-changed'],
      ability: 'memory',
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
    <Loaded query={query}>
      {() => (
        <Table
          label="Notes"
          rows={rows}
          columns={NOTE_COLUMNS}
          rowKey={({ id }) => id}
          onOpen={onOpen}
          onEnd={loadMore}
          empty={empty}
        />
      )}
    </Loaded>
  )
}

function newestFirst(a: MemoryNoteEntry, b: MemoryNoteEntry): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)
}
