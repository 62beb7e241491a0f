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
import type { Approval } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { Note } from '../../components/note.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import type { Ask } from './ask.ts'

const WORDS = new Map([
  ['allow', 'Allowed'],
  ['deny', 'Denied'],
])

/** What has to be known first: how it was answered, why one cannot answer, what cannot be trusted. */
export function AskNotices({ ask, isOver }: { ask: Ask; isOver: boolean }) {
  return (
    <>
      <Outcome ask={ask} isOver={isOver} />
      {!isOver && !ask.mayAnswer && <WhyNot ask={ask} />}
      {!isOver && ask.isRevoked && (
        <Note icon={KeyRound} tone="warn" title="The token of this caller was revoked.">
          <p>
            <VisibleText text={ask.caller} /> can make no more calls, and this one does not run, whatever you answer.
          </p>
        </Note>
      )}
      {!isOver && ask.isOrphan && (
        <Note icon={Unplug} tone="info" title="The caller is gone.">
          <p>
            The process that made this call has ended. Your answer is kept, and counts when the same call is made again.
          </p>
        </Note>
      )}
      {!isOver && ask.isLeft && (
        <Note icon={Undo2} tone="info" title="The caller did not stay to wait.">
          <p>Your answer is kept for a day, and counts when the same call is made again.</p>
        </Note>
      )}
      {ask.kind === 'approval' && <Risks risks={ask.risks} />}
      {ask.kind === 'approval' && ask.labels.includes('untrusted') && (
        <Note icon={TriangleAlert} tone="warn" title="Untrusted content is in this run.">
          <p>
            It has read something from outside, which may steer what the agent asks for. Read the arguments as if a
            stranger had written them.
          </p>
        </Note>
      )}
    </>
  )
}

/** What is dangerous about the call, the most dangerous first. */
function Risks({ risks = [] }: Pick<Approval, 'risks'>) {
  const [worst, ...others] = risks
  if (worst === undefined) return null
  return (
    <Note icon={ShieldAlert} tone="warn" title={<VisibleText text={`${worst}.`} />}>
      {others.map((risk) => (
        <p key={risk}>
          <VisibleText text={`${risk}.`} />
        </p>
      ))}
    </Note>
  )
}

function Outcome({ ask, isOver }: { ask: Ask; isOver: boolean }) {
  const { answered, state } = ask
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
      <Note icon={Undo2} tone="info" title="The caller does not wait any more.">
        <p>It was cancelled, or ended another way. There is nothing to answer.</p>
      </Note>
    )
  }
  if (!isOver) return null
  return (
    <Note icon={TimerOff} tone="info" title="Nobody answered in time.">
      <p>{wordsForSilence(ask)}</p>
    </Note>
  )
}

function wordsForSilence(ask: Ask): string {
  if (ask.kind === 'approval') return 'The call did not run; its agent can make it again.'
  if (ask.defaultAnswer === undefined) return 'The call ended without an answer; its agent can ask again.'
  return 'The default answer was taken.'
}

function WhyNot({ ask }: { ask: Ask }) {
  const { principal, may } = useMe()
  if (!may('approve')) {
    return (
      <Note icon={KeyRound} tone="warn" title="You may look, but not answer.">
        <p>
          {principal.name} has no scope <code>approve</code>. Sign in with a token that has it:{' '}
          <code>tool-hub tokens add NAME --scopes read,approve</code>.
        </p>
      </Note>
    )
  }
  if (ask.caller !== principal.name) return null
  return (
    <Note icon={UserX} tone="warn" title="This is your own call.">
      <p>
        Nobody approves what they asked for themselves. Have a colleague answer, or sign in with a token that is not the
        one that called: <code>tool-hub tokens add NAME --scopes read,approve</code>.
      </p>
    </Note>
  )
}
