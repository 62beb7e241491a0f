import { NotebookPen } from 'lucide-react'
import type { MemoryCandidateEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { SplitList, SplitRow } from '../../components/split-list.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { candidatePath } from './candidate-path.ts'
import { findDuplicates } from './find-duplicates.ts'

const LONGEST_PREVIEW = 200

interface CandidateListProps {
  readonly candidates: readonly MemoryCandidateEntry[]
  readonly selected: string | undefined
}

/** The candidates to choose from, newest first. */
export function CandidateList({ candidates, selected }: CandidateListProps) {
  const duplicates = findDuplicates(candidates)
  return (
    <SplitList label="To review" selected={selected}>
      {candidates.map(({ id, content, scope, tags, origin }) => (
        <SplitRow
          key={id}
          to={candidatePath(id)}
          isSelected={id === selected}
          icon={NotebookPen}
          title={<VisibleText text={content.slice(0, LONGEST_PREVIEW)} />}
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
