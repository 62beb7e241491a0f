import { Check, Copy, NotebookPen, PenLine, TriangleAlert, UserX, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, useMe } from '../../api/session.ts'
import type { MemoryCandidateEntry, MemoryScope } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Field, RefuseForm } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { SplitBar, SplitBody, SplitDetail } from '../../components/split-view.tsx'
import { EmptyState, Skeleton } from '../../components/states.tsx'
import { Code } from '../../components/text.tsx'
import { useCalm, useCalmShortcut } from '../../lib/calm.ts'
import styles from './memory.module.css'
import { NoteFacts, SCOPE_OPTIONS } from './note-facts.tsx'
import { readTags, saysTheSame } from './notes.ts'
import { candidatePath, type Review, useReview } from './use-review.ts'

const MAX_SEARCH_CHARS = 200
const MAX_FOUND = 5

interface CandidateDetailProps {
  readonly candidate: MemoryCandidateEntry | undefined
  readonly isLoading: boolean
  readonly onDone: () => void
}

/** A candidate with its origin, and the decisions. */
export function CandidateDetail({ candidate, isLoading, onDone }: CandidateDetailProps) {
  return (
    <SplitDetail label="Candidate" backTo={candidatePath(undefined)} backWords="All candidates">
      {candidate && <Waiting candidate={candidate} onDone={onDone} />}
      {!candidate && isLoading && <Skeleton />}
      {!candidate && !isLoading && (
        <EmptyState icon={NotebookPen} title="This candidate no longer waits">
          Somebody has decided about it. <code>tool-hub memory review --list --state all</code> shows who and how.
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
              It may contain untrusted text. Once promoted, it is trusted, and agents will act on it. Read it as if a
              stranger had written it.
            </p>
          </Note>
        )}
        {same && (
          <Note icon={Copy} tone="info" title="A note with the same text already exists.">
            <p>
              <Link to={`/memory?view=notes&q=${encodeURIComponent(content.slice(0, MAX_SEARCH_CHARS))}`}>
                Look at it
              </Link>
            </p>
          </Note>
        )}
        {isOwn && (
          <Note icon={UserX} tone="warn" title="This note is your own.">
            <p>You cannot promote your own note: ask a colleague to review it. You can reject it.</p>
          </Note>
        )}
        {!may('approve') && (
          <Note tone="info" title="You can view this note, but not decide about it.">
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

/** Whether a note with the same text and readers exists. */
function useSameNote({ id, key, scope, content }: MemoryCandidateEntry): boolean {
  const { data } = useResource(['memory', 'similar', id], () =>
    api.memory.notes({ query: content.slice(0, MAX_SEARCH_CHARS), scope, limit: MAX_FOUND }),
  )
  return data?.notes.some((note) => note.key === key && saysTheSame(note.content, content)) ?? false
}

interface ReviewBarProps {
  /** The candidate, as text. */
  readonly subject: string
  readonly review: Review
  readonly mayPromote: boolean
  /** Promoting is not suggested: the content is untrusted, or a duplicate. */
  readonly isDoubtful: boolean
  readonly onEdit: () => void
}

/** The decisions: promote, reject with a reason, edit first. */
function ReviewBar({ subject, review, mayPromote, isDoubtful, onEdit }: ReviewBarProps) {
  const [isRejecting, setRejecting] = useState(false)
  const isBusy = review.promote.isBusy || review.reject.isBusy
  const calm = useCalm(subject)
  // These buttons replace those of the rejection at the same place.
  const barCalm = useCalm(`${isRejecting} ${subject}`)
  useCalmShortcut('a', 'Promote', calm, () => void review.promote.run({}), { when: mayPromote })
  useCalmShortcut('d', 'Reject, with a reason', calm, () => setRejecting(true))
  useCalmShortcut('e', 'Edit, then promote', calm, onEdit, { when: mayPromote })
  const reject = (
    <Button
      variant={isDoubtful ? 'primary' : 'secondary'}
      icon={X}
      shortcut="d"
      disabled={isBusy}
      calm={barCalm}
      onClick={() => setRejecting(true)}
    >
      Reject
    </Button>
  )
  return (
    <SplitBar label="Decide" isRow>
      {isRejecting ? (
        <RefuseForm
          label="Reject"
          reasonLabel="Reason for the rejection"
          placeholder="Reason, stored with the note (optional)"
          calm={calm}
          isBusy={isBusy}
          onRefuse={(reason) => void review.reject.run(reason)}
          onCancel={() => setRejecting(false)}
        />
      ) : (
        <div className={styles.buttons}>
          {isDoubtful && reject}
          {mayPromote && (
            <Button
              variant={isDoubtful ? 'secondary' : 'primary'}
              icon={Check}
              shortcut="a"
              isBusy={isBusy}
              calm={barCalm}
              onClick={() => void review.promote.run({})}
            >
              Promote
            </Button>
          )}
          {!isDoubtful && reject}
          {mayPromote && (
            <Button icon={PenLine} shortcut="e" disabled={isBusy} calm={barCalm} onClick={onEdit}>
              Edit…
            </Button>
          )}
        </div>
      )}
    </SplitBar>
  )
}

interface CandidateFormProps {
  readonly candidate: MemoryCandidateEntry
  /** The candidate, as text. */
  readonly subject: string
  readonly review: Review
  readonly onClose: () => void
}

const MAX_CHARS = 20_000

/** Edits the text, the scope and the tags of a candidate before it is promoted. */
function CandidateForm({ candidate, subject, review, onClose }: CandidateFormProps) {
  const [content, setContent] = useState(candidate.content)
  const [scope, setScope] = useState<MemoryScope>(candidate.scope)
  const [tags, setTags] = useState(candidate.tags.join(', '))
  const calm = useCalm(subject)
  const isEmpty = content.trim() === ''
  const promote = () => {
    if (isEmpty) return
    const change = {
      ...(content !== candidate.content && { content }),
      ...(scope !== candidate.scope && { scope }),
      ...(tags !== candidate.tags.join(', ') && { tags: readTags(tags) }),
    }
    void review.promote.submit(change)
  }
  return (
    <FormDialog
      onClose={onClose}
      isWide
      title="Edit and promote"
      description="What you write here is what agents recall."
      submit="Promote"
      icon={Check}
      isBusy={review.promote.isBusy}
      isDisabled={isEmpty}
      calm={calm}
      error={review.promote.error}
      onSubmit={promote}
    >
      <Field label="Text" isRequired problem={isEmpty ? 'A note needs text.' : undefined}>
        {(control) => (
          <textarea
            {...control}
            rows={8}
            maxLength={MAX_CHARS}
            value={content}
            onChange={({ target }) => setContent(target.value)}
          />
        )}
      </Field>
      <Field label="Scope">
        {(control) => (
          <select {...control} value={scope} onChange={({ target }) => setScope(target.value as MemoryScope)}>
            {SCOPE_OPTIONS.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Tags" description="Separated by commas, at most 16.">
        {(control) => (
          <input {...control} autoComplete="off" value={tags} onChange={({ target }) => setTags(target.value)} />
        )}
      </Field>
    </FormDialog>
  )
}
