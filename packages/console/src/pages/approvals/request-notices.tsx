import {
  CircleCheck,
  CircleX,
  KeyRound,
  ShieldAlert,
  TimerOff,
  TriangleAlert,
  Undo2,
  Unplug,
  UserX,
} from 'lucide-react'
import { useMe } from '../../api/session.ts'
import type { Approval } from '../../api/types.ts'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { type HumanRequest, isOfScript } from './human-request.ts'
import { toneOfRisk } from './risk-badges.tsx'

const WORDS = new Map([
  ['allow', 'Allowed'],
  ['deny', 'Denied'],
])

/** What to know first: the answer, why the user cannot answer, risks and untrusted content. */
export function RequestNotices({ request, isOver }: { request: HumanRequest; isOver: boolean }) {
  return (
    <>
      <Outcome request={request} isOver={isOver} />
      {!isOver && !request.mayAnswer && <WhyNot request={request} />}
      {!isOver && request.isRevoked && (
        <Note icon={KeyRound} tone="warn" title="The token of this caller was revoked.">
          <p>
            <VisibleText text={request.caller} /> can make no more calls, and this one will not run, whatever you
            answer.
          </p>
        </Note>
      )}
      {!isOver && request.isOrphan && !isOfScript(request) && (
        <Note icon={Unplug} tone="info" title="The caller has ended.">
          <p>
            The process that made this call has ended. Your answer is kept, and applies when the same call is made
            again.
          </p>
        </Note>
      )}
      {!isOver && request.isLeft && !isOfScript(request) && (
        <Note icon={Undo2} tone="info" title="The caller is not waiting.">
          <p>Your answer is kept for a day, and applies when the same call is made again.</p>
        </Note>
      )}
      {request.kind === 'approval' && <Risks risks={request.risks} />}
      {request.kind === 'approval' && request.labels.includes('untrusted') && (
        <Note icon={TriangleAlert} tone="warn" title="This run contains untrusted content.">
          <p>
            It has read content from outside, which may influence the agent. Read the arguments as if a stranger had
            written them.
          </p>
          {request.unproven && (
            <p>
              Nothing shows that the user chose:{' '}
              <code>
                <VisibleText text={request.unproven.join(', ')} />
              </code>
            </p>
          )}
          {request.taintedBy && (
            <p>
              <VisibleText text={`Read from: ${request.taintedBy.join(', ')}`} />
            </p>
          )}
        </Note>
      )}
    </>
  )
}

/** The risks of the call, the greatest first. */
function Risks({ risks = [] }: Pick<Approval, 'risks'>) {
  const [worst, ...others] = risks
  if (worst === undefined) return null
  return (
    <Note
      icon={ShieldAlert}
      tone={toneOfRisk(worst) === 'bad' ? 'bad' : 'warn'}
      title={<VisibleText text={`${worst}.`} />}
    >
      {others.map((risk) => (
        <p key={risk}>
          <VisibleText text={`${risk}.`} />
        </p>
      ))}
    </Note>
  )
}

function Outcome({ request, isOver }: { request: HumanRequest; isOver: boolean }) {
  const { answered, state } = request
  if (answered) {
    const isYes = answered.decision !== 'deny'
    const word = WORDS.get(answered.decision ?? '') ?? 'Answered'
    return (
      <Note
        icon={isYes ? CircleCheck : CircleX}
        tone={isYes ? 'ok' : 'bad'}
        title={
          <>
            {word} by <VisibleText text={answered.by} /> via <VisibleText text={answered.via} />,{' '}
            <Time at={answered.at} />.
          </>
        }
      />
    )
  }
  if (state === 'withdrawn') {
    return (
      <Note icon={Undo2} tone="info" title="The caller no longer waits.">
        <p>The call was cancelled or has ended. There is nothing to answer.</p>
      </Note>
    )
  }
  if (!isOver) return null
  return (
    <Note icon={TimerOff} tone="info" title="Nobody answered in time.">
      <p>{wordsForSilence(request)}</p>
    </Note>
  )
}

function wordsForSilence(request: HumanRequest): string {
  if (request.kind === 'approval') return 'The call did not run; its agent can make it again.'
  if (request.defaultAnswer === undefined) return 'The call ended without an answer; its agent can ask again.'
  return 'The default answer was used.'
}

function WhyNot({ request }: { request: HumanRequest }) {
  const { principal, may } = useMe()
  if (!may('approve')) {
    return (
      <Note icon={KeyRound} tone="warn" title="You can view this, but not answer it.">
        <p>
          {principal.name} does not have the scope <code>approve</code>. Sign in with a token that has it:{' '}
          <code>tool-hub tokens add NAME --scopes read,approve</code>.
        </p>
      </Note>
    )
  }
  if (request.caller !== principal.name) return null
  return (
    <Note icon={UserX} tone="warn" title="This is your own call.">
      <p>
        You cannot approve your own call. Ask a colleague to answer, or sign in with another token than the one that
        called: <code>tool-hub tokens add NAME --scopes read,approve</code>.
      </p>
    </Note>
  )
}
