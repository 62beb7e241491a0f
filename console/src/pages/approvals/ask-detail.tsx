import { Loaded } from '../../components/loaded.tsx'
import { SplitDetail } from '../../components/split-view.tsx'
import { ApprovalDetail } from './approval-detail.tsx'
import type { Ask } from './ask.ts'
import { QuestionDetail } from './question-detail.tsx'
import { useAsk } from './use-ask.ts'

interface AskDetailProps {
  readonly id: string
  readonly known: Ask | undefined
  readonly backTo: string
  /** It was answered here: time for the next one. */
  readonly onDone: () => void
}

/** One ask with all that helps to decide, and the ways to answer. */
export function AskDetail({ id, known, backTo, onDone }: AskDetailProps) {
  const query = useAsk(id, known)
  return (
    <SplitDetail label="What is asked" backTo={backTo} backWords="All approvals">
      <Loaded query={query}>
        {(ask) =>
          ask.kind === 'approval' ? (
            <ApprovalDetail approval={ask} onDone={onDone} />
          ) : (
            <QuestionDetail question={ask} onDone={onDone} />
          )
        }
      </Loaded>
    </SplitDetail>
  )
}
