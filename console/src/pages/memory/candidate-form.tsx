import { Check } from 'lucide-react'
import { useId, useState } from 'react'
import { readHint } from '../../api/read-hint.ts'
import type { MemoryCandidateEntry, MemoryScope } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import styles from './memory.module.css'
import { readTags } from './read-tags.ts'
import { SCOPE_OPTIONS } from './scope-words.ts'
import type { Review } from './use-review.ts'

interface CandidateFormProps {
  readonly candidate: MemoryCandidateEntry
  /** The candidate, as text. */
  readonly subject: string
  readonly review: Review
  readonly onClose: () => void
}

const MOST_CHARS = 20_000

/** Another scope, other tags or another text for a candidate, on its way into memory. */
export function CandidateForm({ candidate, subject, review, onClose }: CandidateFormProps) {
  const formId = useId()
  const [content, setContent] = useState(candidate.content)
  const [scope, setScope] = useState<MemoryScope>(candidate.scope)
  const [tags, setTags] = useState(candidate.tags.join(', '))
  const [error, setError] = useState<Error>()
  const calm = useCalm(subject)
  const hint = readHint(error)
  const isEmpty = content.trim() === ''
  const promote = () => {
    if (isEmpty) return
    const change = {
      ...(content !== candidate.content && { content }),
      ...(scope !== candidate.scope && { scope }),
      ...(tags !== candidate.tags.join(', ') && { tags: readTags(tags) }),
    }
    review.promoteOrThrow(change).catch(setError)
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isWide
      title="Edit and promote"
      description="What you write here is what agents recall."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={formId}
            variant="primary"
            icon={Check}
            isBusy={review.isBusy}
            calm={calm}
            disabled={isEmpty}
          >
            Promote
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          promote()
        }}
      >
        {error && (
          <Note tone="bad" title={<VisibleText text={error.message} />} isLive>
            {hint !== undefined && (
              <p>
                <VisibleText text={hint} />
              </p>
            )}
          </Note>
        )}
        <Field label="Text" isRequired problem={isEmpty ? 'A note needs a text.' : undefined}>
          {(control) => (
            <textarea
              {...control}
              rows={8}
              maxLength={MOST_CHARS}
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
        <Field label="Tags" description="With commas between them, at most 16.">
          {(control) => (
            <input {...control} autoComplete="off" value={tags} onChange={({ target }) => setTags(target.value)} />
          )}
        </Field>
      </form>
    </Dialog>
  )
}
