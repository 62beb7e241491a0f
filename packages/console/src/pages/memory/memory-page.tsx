import { NotebookPen } from 'lucide-react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import type { MemoryCandidateEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { ResourceSplit, ViewsPage } from '../../components/resource.tsx'
import { LastDone, SplitList, SplitRow, useSelection } from '../../components/split-view.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { useValue } from '../../lib/watched-value.ts'
import { useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { CandidateDetail } from './candidate-detail.tsx'
import { findDuplicates } from './notes.ts'
import { NotesView } from './notes-view.tsx'
import { candidatePath, lastReview } from './use-review.ts'

/** Notes that wait for review, and the notes that agents remember. */
export default function MemoryPage({ params: { id } }: PageProps) {
  const [view] = useSearchParam('view', 'review')
  return (
    <ViewsPage
      title="Memory"
      fill
      label="Views of memory"
      views={[
        // Not rendered while another view is shown: it would open its first item, and so itself again.
        { id: 'review', title: 'To review', content: view === 'review' && <ReviewView id={id} /> },
        { id: 'notes', title: 'Notes', content: <NotesView /> },
      ]}
    />
  )
}

/** The candidates, with the selected one next to them. */
function ReviewView({ id }: { id: string | undefined }) {
  const query = useResource(['memory', 'candidates'], () => api.memory.candidates(), {
    feature: 'memory',
  })
  const last = useValue(lastReview)
  const candidates = query.data?.candidates
  const { selectNext } = useSelection({ list: candidates, id, pathOf: candidatePath })
  return (
    <ResourceSplit
      query={query}
      list={({ candidates: all, memory }) =>
        all.length === 0 ? <NothingToReview {...memory} /> : <CandidateList candidates={all} selected={id} />
      }
      below={<LastDone done={last} />}
      detail={
        id !== undefined && (
          <CandidateDetail
            key={id}
            candidate={candidates?.find((candidate) => candidate.id === id)}
            isLoading={candidates === undefined}
            onDone={selectNext}
          />
        )
      }
    />
  )
}

const MAX_PREVIEW = 200

interface CandidateListProps {
  readonly candidates: readonly MemoryCandidateEntry[]
  readonly selected: string | undefined
}

/** The list of candidates, newest first. */
function CandidateList({ candidates, selected }: CandidateListProps) {
  const duplicates = findDuplicates(candidates)
  return (
    <SplitList label="To review" selected={selected}>
      {candidates.map(({ id, content, scope, tags, origin }) => (
        <SplitRow
          key={id}
          to={candidatePath(id)}
          isSelected={id === selected}
          icon={NotebookPen}
          title={<VisibleText text={content.slice(0, MAX_PREVIEW)} />}
          side={<Time at={origin.at} />}
          preview={<VisibleText text={[scope, ...tags.map((tag) => `#${tag}`)].join(' ')} />}
          meta={
            <>
              <VisibleText text={origin.principal ?? origin.caller ?? 'unknown'} />
              {origin.tainted && <Badge tone="warn">untrusted</Badge>}
              {duplicates.has(id) && <Badge>duplicate</Badge>}
            </>
          }
        />
      ))}
    </SplitList>
  )
}

/** Shown if there are no candidates, with the reason. */
function NothingToReview({ enabled, writeMode }: { enabled: boolean; writeMode: string }) {
  if (!enabled || writeMode === 'disabled') {
    return (
      <EmptyState icon={NotebookPen} title="Agents cannot write notes">
        Set <code>memory.write_mode</code> to <code>candidate</code> in tool-hub.yaml to review here what they want to
        remember; see docs/reference/memory.md.
      </EmptyState>
    )
  }
  if (writeMode === 'external') {
    return (
      <EmptyState icon={NotebookPen} title="Notes are stored without review">
        <code>memory.write_mode</code> is <code>external</code>: nothing waits for review. What agents remember is under{' '}
        <Link to="/memory?view=notes">Notes</Link>.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={NotebookPen} title="Nothing to review">
      Notes that agents write with the tool <code>core/memory.write</code> wait here for review; agents cannot recall
      them before. <code>tool-hub memory review</code> does the same in a terminal.
    </EmptyState>
  )
}
