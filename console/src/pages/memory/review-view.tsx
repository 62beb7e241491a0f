import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { LastDone } from '../../components/last-done.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { SplitView } from '../../components/split-view.tsx'
import { useChosen } from '../../components/use-chosen.ts'
import { useValue } from '../../state/create-value.ts'
import { CandidateDetail } from './candidate-detail.tsx'
import { CandidateList } from './candidate-list.tsx'
import { candidatePath } from './candidate-path.ts'
import { lastReview } from './last-review.ts'
import { NothingToReview } from './nothing-to-review.tsx'

/** What waits for review, with the chosen one beside it. */
export function ReviewView({ id }: { id: string | undefined }) {
  const query = useQuery('memory candidates', () => api.memory.candidates(), {
    refreshOn: ['ability-changed'],
    ability: 'memory',
  })
  const last = useValue(lastReview)
  const candidates = query.data?.candidates
  const { goOn } = useChosen({ list: candidates, id, pathOf: candidatePath })
  return (
    <SplitView
      side={
        <>
          <Loaded query={query}>
            {({ candidates: all, memory }) =>
              all.length === 0 ? <NothingToReview {...memory} /> : <CandidateList candidates={all} selected={id} />
            }
          </Loaded>
          <LastDone done={last} />
        </>
      }
      detail={
        id !== undefined && (
          <CandidateDetail
            key={id}
            candidate={candidates?.find((candidate) => candidate.id === id)}
            isLoading={candidates === undefined}
            onDone={goOn}
          />
        )
      }
    />
  )
}
