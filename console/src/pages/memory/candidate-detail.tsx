import { Copy, NotebookPen, TriangleAlert, UserX } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import type { MemoryCandidateEntry } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { useQuery } from '../../api/use-query.ts'
import { Code } from '../../components/code.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Note } from '../../components/note.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { SplitBody, SplitDetail } from '../../components/split-view.tsx'
import { Link } from '../../router/link.tsx'
import { CandidateForm } from './candidate-form.tsx'
import { candidatePath } from './candidate-path.ts'
import { saysTheSame } from './find-duplicates.ts'
import { NoteFacts } from './note-facts.tsx'
import { ReviewBar } from './review-bar.tsx'
import { useReview } from './use-review.ts'

const MAX_SEARCH_CHARS = 200
const MAX_FOUND = 5

interface CandidateDetailProps {
  readonly candidate: MemoryCandidateEntry | undefined
  readonly isLoading: boolean
  readonly onDone: () => void
}

/** One candidate with where it comes from, and the ways to decide. */
export function CandidateDetail({ candidate, isLoading, onDone }: CandidateDetailProps) {
  return (
    <SplitDetail label="Candidate" backTo={candidatePath(undefined)} backWords="All candidates">
      {candidate && <Waiting candidate={candidate} onDone={onDone} />}
      {!candidate && isLoading && <Skeleton />}
      {!candidate && !isLoading && (
        <EmptyState icon={NotebookPen} title="This one does not wait any more">
          Somebody has decided on it. <code>tool-hub memory review --list --state all</code> tells who, and how.
        </EmptyState>
      )}
    </SplitDetail>
  )
}

function Waiting({ candidate, onDone }: { candidate: MemoryCandidateEntry; onDone: () => void }) {
  const { may, principal } = useMe()
  const [isEditing, setEditing] = useState(false)
  const review = useReview(candidate, onDone)
  const { content, origin } = candidate
  const subject = JSON.stringify(candidate)
  const isOwn = origin.principal === principal.name
  const same = useSameNote(candidate)
  return (
    <>
      <SplitBody label="The note">
        {origin.tainted && (
          <Note icon={TriangleAlert} tone="warn" title="Its run has read content from outside.">
            <p>
              A stranger’s words may be in it. Promoted, it is trusted: agents will act on it. Read it as if a stranger
              had written it.
            </p>
          </Note>
        )}
        {same && (
          <Note icon={Copy} tone="info" title="A note with the same words exists already.">
            <p>
              <Link to={`/memory?view=notes&q=${encodeURIComponent(content.slice(0, MAX_SEARCH_CHARS))}`}>
                Look at it
              </Link>
            </p>
          </Note>
        )}
        {isOwn && (
          <Note icon={UserX} tone="warn" title="This note is your own.">
            <p>Nobody promotes what they wrote themselves: have a colleague look at it. You may reject it.</p>
          </Note>
        )}
        {!may('approve') && (
          <Note tone="info" title="You may look, but not decide.">
            <p>
              Sign in with a token that has the scope approve:{' '}
              <code>tool-hub tokens add NAME --scopes read,approve</code>.
            </p>
          </Note>
        )}
        <Code text={content} label="Note" />
        <NoteFacts note={candidate} />
      </SplitBody>
      {may('approve') && (
        <ReviewBar
          subject={subject}
          review={review}
          mayPromote={!isOwn}
          isDoubtful={origin.tainted || same}
          onEdit={() => setEditing(true)}
        />
      )}
      {isEditing && (
        <CandidateForm candidate={candidate} subject={subject} review={review} onClose={() => setEditing(false)} />
      )}
    </>
  )
}

/** Whether a note for the same readers says the same already. */
function useSameNote({ id, key, scope, content }: MemoryCandidateEntry): boolean {
  const { data } = useQuery(`memory notes like ${id}`, () =>
    api.memory.notes({ query: content.slice(0, MAX_SEARCH_CHARS), scope, limit: MAX_FOUND }),
  )
  return data?.notes.some((note) => note.key === key && saysTheSame(note.content, content)) ?? false
}
