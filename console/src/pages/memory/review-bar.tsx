import { Check, PenLine, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { RefuseForm } from '../../components/refuse-form.tsx'
import { SplitBar } from '../../components/split-view.tsx'
import { useCalm, useCalmShortcut } from '../../keyboard/use-calm.ts'
import styles from './memory.module.css'
import type { Review } from './use-review.ts'

interface ReviewBarProps {
  /** The candidate, as text. */
  readonly subject: string
  readonly review: Review
  readonly mayPromote: boolean
  /** Promoting is not what the page suggests: the words may be a stranger's, or are known already. */
  readonly isDoubtful: boolean
  readonly onEdit: () => void
}

/** The decisions: promote, reject with a reason, edit first. */
export function ReviewBar({ subject, review, mayPromote, isDoubtful, onEdit }: ReviewBarProps) {
  const [isRejecting, setRejecting] = useState(false)
  const calm = useCalm(subject)
  // They come back where those of the rejection stood.
  const barCalm = useCalm(`${isRejecting} ${subject}`)
  useCalmShortcut('a', 'Promote', calm, () => void review.promote(), { when: mayPromote })
  useCalmShortcut('d', 'Reject, with a reason', calm, () => setRejecting(true))
  useCalmShortcut('e', 'Edit, then promote', calm, onEdit, { when: mayPromote })
  const reject = (
    <Button
      variant={isDoubtful ? 'primary' : 'secondary'}
      icon={X}
      shortcut="d"
      disabled={review.isBusy}
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
          placeholder="Reason, which is kept with it (optional)"
          calm={calm}
          isBusy={review.isBusy}
          onRefuse={(reason) => void review.reject(reason)}
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
              isBusy={review.isBusy}
              calm={barCalm}
              onClick={review.promote}
            >
              Promote
            </Button>
          )}
          {!isDoubtful && reject}
          {mayPromote && (
            <Button icon={PenLine} shortcut="e" disabled={review.isBusy} calm={barCalm} onClick={onEdit}>
              Edit…
            </Button>
          )}
        </div>
      )}
    </SplitBar>
  )
}
