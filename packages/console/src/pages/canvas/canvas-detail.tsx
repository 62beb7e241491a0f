import { ChevronLeft, ChevronRight, ExternalLink, EyeOff, FormInput } from 'lucide-react'
import { Link } from 'wouter'
import { api, useMe } from '../../api/session.ts'
import type { CanvasDetailEntry, Question } from '../../api/types.ts'
import { useAction, useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { Loaded } from '../../components/resource.tsx'
import { SplitBody, SplitDetail } from '../../components/split-view.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { useCalm } from '../../lib/calm.ts'
import { formatBytes } from '../../lib/format.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useIsDark } from '../../lib/theme.ts'
import { useSearchParam } from '../../router/router.ts'
import { subjectOf } from '../approvals/human-request.ts'
import { QuestionForm } from '../approvals/question-reply.tsx'
import { useQuestionAnswer } from '../approvals/use-answer.ts'
import styles from './canvas.module.css'
import { canvasPath, useCanvas, viewPath } from './canvases.ts'

/** A canvas with its author. */
export function CanvasPanel({ id }: { id: string }) {
  const query = useCanvas(id)
  return (
    <SplitDetail label="Canvas" backTo={canvasPath()} backWords="All canvases">
      <Loaded query={query}>
        {(canvas) => (
          <>
            <Heading canvas={canvas} />
            {canvas.kind === 'form' ? <CanvasForm canvas={canvas} /> : <CanvasView canvas={canvas} />}
          </>
        )}
      </Loaded>
    </SplitDetail>
  )
}

function Heading({ canvas }: { canvas: CanvasDetailEntry }) {
  const { title, tainted, hidden, caller, principal, updatedAt, run, latest } = canvas
  return (
    <header className={styles.heading}>
      <div className={styles.words}>
        <h2>
          <VisibleText text={title} />
        </h2>
        <p className={styles.who}>
          <VisibleText text={principal ?? caller} />, <Time at={updatedAt} />, in{' '}
          <Link to={runPath(run, latest.callId)}>
            <VisibleText text={run} />
          </Link>
        </p>
      </div>
      {tainted && (
        <span title="Its run has read content from outside: this may not be the agent’s own work.">
          <Badge tone="warn">untrusted</Badge>
        </span>
      )}
      {hidden && <Badge>hidden</Badge>}
      {!hidden && <HideButton id={canvas.id} />}
    </header>
  )
}

function HideButton({ id }: { id: string }) {
  const me = useMe()
  const calm = useCalm(id)
  const hide = useAction(() => api.canvases.hide(id), { failure: 'Not hidden', refreshes: ['canvases'] })
  if (!me.may('approve') && !me.may('admin')) return null
  return (
    <Button icon={EyeOff} isBusy={hide.isBusy} calm={calm} onClick={() => void hide.run()}>
      Hide
    </Button>
  )
}

/** A canvas in its frame, and its versions. The latest version follows the changes of the agent. */
function CanvasView({ canvas }: { canvas: CanvasDetailEntry }) {
  const { id, title, versions, latest } = canvas
  const [wanted, setWanted] = useSearchParam('version')
  const isDark = useIsDark()
  const shown = versions.find(({ n }) => String(n) === wanted) ?? latest
  const at = versions.findIndex(({ n }) => n === shown.n)
  const goTo = (index: number) => {
    const next = versions[index]
    if (next) setWanted(next.n === latest.n ? '' : String(next.n))
  }
  useShortcut('[', 'Previous version', () => goTo(at - 1))
  useShortcut(']', 'Next version', () => goTo(at + 1))
  const path = viewPath(id, shown.n, isDark ? 'dark' : 'light')
  return (
    <>
      {/* A new frame for each address: navigating in the same frame would add to the history of the browser. */}
      <iframe
        key={path}
        className={styles.frame}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        title={title}
        src={path}
      />
      <footer className={styles.versions}>
        <IconButton
          label="Previous version"
          icon={ChevronLeft}
          shortcut="["
          disabled={at <= 0}
          onClick={() => goTo(at - 1)}
        />
        <span aria-live="polite">
          Version {shown.n} of {latest.n}
        </span>
        <IconButton
          label="Next version"
          icon={ChevronRight}
          shortcut="]"
          disabled={at === versions.length - 1}
          onClick={() => goTo(at + 1)}
        />
        <span className={styles.muted}>
          {formatBytes(shown.bytes)}, <Time at={shown.at} />
        </span>
        <a className={styles.open} href={path} target="_blank" rel="noopener noreferrer">
          <ExternalLink size={14} aria-hidden="true" /> Open in a new tab
        </a>
      </footer>
    </>
  )
}

/** A form that a call waits for. It is a question of that call, so it can also be answered on the Approvals page. */
function CanvasForm({ canvas }: { canvas: CanvasDetailEntry }) {
  const query = useResource(['questions', 'waiting'], () => api.questions.list(), { refreshOn: ['question'] })
  return (
    <SplitBody label="The form">
      <Loaded query={query}>
        {(questions) => {
          const question = questions.find(({ callId }) => callId === canvas.latest.callId)
          if (question) return <Answer key={question.id} question={question} />
          return (
            <EmptyState icon={FormInput} title="This form no longer waits for an answer">
              It was answered, it expired, or its call was stopped.
            </EmptyState>
          )
        }}
      </Loaded>
    </SplitBody>
  )
}

function Answer({ question }: { question: Question }) {
  const reply = useQuestionAnswer(question, () => {})
  const calm = useCalm(subjectOf(question))
  if (!question.mayAnswer)
    return <Note title="You cannot answer it: it is your own call, or you do not have the scope approve." />
  return <QuestionForm schema={question.form ?? {}} reply={reply} calm={calm} />
}
