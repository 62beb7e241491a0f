import type { MemoryCandidateEntry, MemoryNoteEntry } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Facts } from '../../components/facts.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { SCOPE_WORDS } from './scope-words.ts'

type Described = Pick<MemoryNoteEntry, 'scope' | 'key' | 'tags' | 'origin'> &
  Pick<Partial<MemoryCandidateEntry>, 'replaces'>

/** Whom a note is for, and where it comes from. */
export function NoteFacts({ note }: { note: Described }) {
  const { scope, key: owner, tags, origin, replaces } = note
  const { run, callId, caller, principal, at, tainted, reviewed, promotedBy, importedBy } = origin
  return (
    <Facts
      facts={[
        ['For', `${scope}: ${SCOPE_WORDS.get(scope)}`],
        ['Whose', owner !== scope && <VisibleText key="whose" text={owner} />],
        ['Tags', tags.length > 0 && <VisibleText key="tags" text={tags.join(', ')} />],
        ['Written', <Time key="written" at={at} />],
        ['By', <VisibleText key="by" text={principal ?? caller ?? 'unknown'} />],
        ['In', run !== undefined && <CallLink key="in" run={run} callId={callId} />],
        ['Replaces', replaces && <VisibleText key="replaces" text={replaces} />],
        ['Trust', <Trust key="trust" isTainted={tainted} isReviewed={reviewed} />],
        ['Promoted', promotedBy && <VisibleText key="promoted" text={`by ${promotedBy}`} />],
        ['Imported', importedBy && <VisibleText key="imported" text={`by ${importedBy}`} />],
      ]}
    />
  )
}

function CallLink({ run, callId }: { run: string; callId: string | undefined }) {
  return (
    <Link to={runPath(run, callId)}>
      <VisibleText text={run} />
    </Link>
  )
}

/** Whether agents may take it for their own words. */
export function Trust({ isTainted, isReviewed }: { isTainted: boolean; isReviewed: boolean }) {
  if (isReviewed) return <Badge tone="ok">reviewed</Badge>
  if (isTainted) return <Badge tone="warn">untrusted</Badge>
  return <Badge>not reviewed</Badge>
}
