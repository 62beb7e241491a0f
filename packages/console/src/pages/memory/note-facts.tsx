import { Link } from 'wouter'
import type { MemoryCandidateEntry, MemoryNoteEntry, MemoryScope } from '../../api/types.ts'
import { runPath } from '../../calls/call.ts'
import { Badge } from '../../components/badge.tsx'
import { Facts } from '../../components/details.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'

type Described = Pick<MemoryNoteEntry, 'scope' | 'key' | 'tags' | 'origin'> &
  Pick<Partial<MemoryCandidateEntry>, 'replaces'>

/** The readers of a note, and its origin. */
export function NoteFacts({ note }: { note: Described }) {
  const { scope, key: owner, tags, origin, replaces } = note
  const { run, callId, caller, principal, at, tainted, reviewed, promotedBy, importedBy } = origin
  return (
    <Facts
      facts={[
        ['For', `${scope}: ${SCOPE_WORDS[scope]}`],
        ['Owner', owner !== scope && <VisibleText key="owner" text={owner} />],
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

/** Whether agents may rely on a note. */
export function Trust({ isTainted, isReviewed }: { isTainted: boolean; isReviewed: boolean }) {
  if (isReviewed) return <Badge tone="ok">reviewed</Badge>
  if (isTainted) return <Badge tone="warn">untrusted</Badge>
  return <Badge>not reviewed</Badge>
}

/** The readers of each scope. */
const SCOPE_WORDS: Readonly<Record<MemoryScope, string>> = {
  run: 'this run only',
  session: 'this session',
  agent: 'this agent in all its runs',
  shared: 'every agent',
}

/** The scopes of notes. */
export const MEMORY_SCOPES = Object.keys(SCOPE_WORDS) as readonly MemoryScope[]

/** The scopes as options of a select. */
export const SCOPE_OPTIONS = MEMORY_SCOPES.map((scope) => [scope, `${scope}: ${SCOPE_WORDS[scope]}`] as const)
