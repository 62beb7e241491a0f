import type { MemoryNoteEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Trust } from './note-facts.tsx'

const LONGEST_PREVIEW = 300

/** A note, and whether an older one says the same. */
type NoteRow = MemoryNoteEntry & { readonly isDuplicate: boolean }

/** The columns of the list of notes. */
export const NOTE_COLUMNS: readonly Column<NoteRow>[] = [
  {
    id: 'content',
    title: 'Note',
    width: 'minmax(240px, 3fr)',
    narrow: 'title',
    cell: ({ content, isDuplicate }) => (
      <>
        {isDuplicate && <Badge>duplicate</Badge>} <VisibleText text={content.slice(0, LONGEST_PREVIEW)} />
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
