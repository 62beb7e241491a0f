import { Check, FileCode, Pause, X } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { Loaded } from '../../components/resource.tsx'
import { SplitBar, SplitBody, SplitDetail } from '../../components/split-view.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { useCalm, useCalmShortcut } from '../../lib/calm.ts'
import { classNames } from '../../lib/class-names.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { AnswerAll } from './answer-all.tsx'
import { AnswerBar, Answers } from './answer-bar.tsx'
import styles from './approvals.module.css'
import { EditDialog } from './edit-dialog.tsx'
import { placeOf, requestPath, type ScriptApproval, subjectOf } from './human-request.ts'
import { Deadline, RequestState, RunHistory } from './request-parts.tsx'
import { ApprovalFacts } from './request-views.tsx'
import { ScriptBlock } from './script-source.tsx'
import { countCalls, isAnswerable } from './several-calls.tsx'
import { useApprovalAnswer } from './use-answer.ts'
import { useIsOver, useScriptRequests } from './use-requests.ts'

interface ScriptDetailProps {
  readonly script: string
  /** The request of the address, if it names one. */
  readonly request: string | undefined
  readonly backTo: string
  /** Called after the last of its calls was answered here. */
  readonly onDone: () => void
}

/** The pending calls of a script on one card, with its source. */
export function ScriptDetail({ script, request, backTo, onDone }: ScriptDetailProps) {
  const query = useScriptRequests(script)
  // The address changes to that of the script.
  const [chosen, setChosen] = useState(request)
  return (
    <SplitDetail label="Script" backTo={backTo} backWords="All approvals">
      <Loaded query={query}>
        {([first, ...others]) =>
          first === undefined ? (
            <EmptyState icon={FileCode} title="No call of this script is waiting">
              It continues when its agent does. What was answered is{' '}
              <Link to={requestPath(undefined, 'past')}>here</Link>.
            </EmptyState>
          ) : (
            <ScriptCard calls={[first, ...others]} chosen={chosen} onChoose={setChosen} onDone={onDone} />
          )
        }
      </Loaded>
    </SplitDetail>
  )
}

interface ScriptCardProps {
  readonly calls: readonly [ScriptApproval, ...ScriptApproval[]]
  /** The call that was chosen by a key, a button or the address. */
  readonly chosen: string | undefined
  readonly onChoose: (id: string | undefined) => void
  readonly onDone: () => void
}

/** The source, each call with its answers, and answers for all of them. */
function ScriptCard({ calls, chosen, onChoose, onDone }: ScriptCardProps) {
  const waiting = calls.filter(({ state }) => state === 'waiting')
  const current = waiting.find(({ id }) => id === chosen) ?? waiting[0]
  const source = useRef<HTMLDivElement>(null)
  const [shownLine, setShownLine] = useState<number>()
  const line = shownLine ?? calls.find(({ id }) => id === chosen)?.script.line
  const [editing, setEditing] = useState<string>()
  const edited = waiting.find(({ id }) => id === editing)
  const isOnly = calls.length === 1
  const step = (by: number) => {
    setShownLine(undefined)
    const index = waiting.findIndex(({ id }) => id === current?.id)
    onChoose(waiting[Math.max(0, Math.min(waiting.length - 1, index + by))]?.id)
  }
  useShortcut('n', 'Next call of the script', () => step(1), { when: !isOnly })
  useShortcut('p', 'Previous call of the script', () => step(-1), { when: !isOnly })
  const answered = (id: string) => {
    if (waiting.every((call) => call.id === id)) onDone()
  }
  const [first] = calls
  const last = calls.findLast(({ history }) => history.length > 0) ?? first
  return (
    <>
      <SplitBody label="The script and its calls">
        <CardHeading calls={calls} waiting={waiting.length} />
        {waiting.some(({ isOrphan, isLeft }) => isOrphan || isLeft) && (
          <Note icon={Pause} tone="info" title="The script is suspended.">
            <p>Your answers are kept. The script continues where it was when its agent waits for it again.</p>
          </Note>
        )}
        <div ref={source}>
          <ScriptBlock calls={calls} line={line} />
        </div>
        {calls.map((call) => (
          <ScriptCall
            key={call.id}
            call={call}
            isOnly={isOnly}
            isCurrent={call.id === current?.id}
            isChosen={call.id === chosen}
            onShowLine={() => {
              setShownLine(call.script.line)
              source.current?.scrollIntoView({ block: 'start' })
            }}
            onEdit={() => setEditing(call.id)}
            onDone={() => answered(call.id)}
          />
        ))}
        <RunHistory history={last.history} run={last.run} />
      </SplitBody>
      {isOnly ? (
        <OnlyAnswer call={first} onEdit={() => setEditing(first.id)} onDone={onDone} />
      ) : (
        <AllAnswers calls={waiting} onDone={onDone} />
      )}
      {edited && (
        <EditDialog
          key={edited.id}
          approval={edited}
          onDone={() => answered(edited.id)}
          onClose={() => setEditing(undefined)}
        />
      )}
    </>
  )
}

/** The caller, the run, and how many calls wait until when. */
function CardHeading({ calls, waiting }: { calls: ScriptCardProps['calls']; waiting: number }) {
  const [{ caller, run, askedAt }] = calls
  const soonest = calls
    .filter(({ state }) => state === 'waiting')
    .toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1))
  return (
    <header>
      <div className={styles.heading}>
        <h2>Script</h2>
        <Badge tone={waiting > 0 ? 'warn' : 'quiet'}>
          {waiting === 1 ? '1 call waits' : `${countCalls(waiting)} wait`}
        </Badge>
        {soonest[0] && <Deadline at={soonest[0].expiresAt} />}
      </div>
      <p className={styles.who}>
        <VisibleText text={caller} /> asked <Time at={askedAt} /> in{' '}
        <Link to={`/runs/${encodeURIComponent(run)}`}>{run}</Link>
      </p>
    </header>
  )
}

interface ScriptCallProps {
  readonly call: ScriptApproval
  /** Its answers are at the bottom of the card. */
  readonly isOnly: boolean
  /** The keys are for this call. */
  readonly isCurrent: boolean
  /** It was chosen by a key or by the address, and is scrolled to. */
  readonly isChosen: boolean
  readonly onShowLine: () => void
  readonly onEdit: () => void
  readonly onDone: () => void
}

/** One call of the script with everything that helps to decide, and its answers. */
function ScriptCall({ call, isOnly, isCurrent, isChosen, onShowLine, onEdit, onDone }: ScriptCallProps) {
  const id = useId()
  const section = useRef<HTMLElement>(null)
  const isOver = useIsOver(call)
  const approve = useApprovalAnswer(call, onDone)
  useEffect(() => {
    if (isChosen) section.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  const { line } = call.script
  return (
    <section
      ref={section}
      className={classNames(styles.scriptCall, isCurrent && !isOnly && styles.current)}
      aria-labelledby={id}
      aria-current={isCurrent && !isOnly ? 'true' : undefined}
    >
      <div className={styles.heading}>
        <h3 id={id}>
          <VisibleText text={call.tool} />, {placeOf(call)}
        </h3>
        {line !== undefined && !isOnly && (
          <Button size="small" variant="quiet" onClick={onShowLine}>
            Show line {line}
          </Button>
        )}
        {isOver ? <RequestState request={call} /> : <Deadline at={call.expiresAt} />}
      </div>
      <ApprovalFacts approval={call} isOver={isOver} />
      {!isOver && call.mayAnswer && !isOnly && (
        <fieldset className={styles.callAnswers} aria-label={`Answer to ${call.tool}, ${placeOf(call)}`}>
          <Answers approval={call} approve={approve} hasKeys={isCurrent} onEdit={onEdit} />
        </fieldset>
      )}
    </section>
  )
}

interface OnlyAnswerProps {
  readonly call: ScriptApproval
  readonly onEdit: () => void
  readonly onDone: () => void
}

/** The answers to the only call, where those of a direct call are. */
function OnlyAnswer({ call, onEdit, onDone }: OnlyAnswerProps) {
  const isOver = useIsOver(call)
  const approve = useApprovalAnswer(call, onDone)
  if (isOver || !call.mayAnswer) return null
  return <AnswerBar approval={call} approve={approve} onEdit={onEdit} />
}

/** One answer for all calls that wait, after a confirmation; nothing if there are not several. */
function AllAnswers({ calls, onDone }: { calls: readonly ScriptApproval[]; onDone: () => void }) {
  const [decision, setDecision] = useState<'allow' | 'deny'>()
  const answerable = calls.filter(isAnswerable)
  const calm = useCalm(JSON.stringify(answerable.map(subjectOf)))
  const hasSeveral = answerable.length > 1
  useCalmShortcut('A', 'Allow all calls of the script', calm, () => setDecision('allow'), { when: hasSeveral })
  useCalmShortcut('D', 'Deny all calls of the script', calm, () => setDecision('deny'), { when: hasSeveral })
  return (
    <>
      {hasSeveral && (
        <SplitBar label="Answer all" isRow>
          <div className={styles.buttons}>
            <Button icon={Check} shortcut="A" calm={calm} onClick={() => setDecision('allow')}>
              Allow all {answerable.length}…
            </Button>
            <Button icon={X} shortcut="D" calm={calm} onClick={() => setDecision('deny')}>
              Deny all {answerable.length}…
            </Button>
          </div>
        </SplitBar>
      )}
      {decision && (
        <AnswerAll decision={decision} calls={answerable} onDone={onDone} onClose={() => setDecision(undefined)} />
      )}
    </>
  )
}
