import { useRef, useState } from 'react'
import { refreshResources } from '../../api/query-client.ts'
import { api } from '../../api/session.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { answerEach, type SentAnswer } from './answers.ts'
import styles from './approvals.module.css'
import { type HumanRequest, isOfScript, placeOf, previewOf } from './human-request.ts'
import { lastAnswer } from './use-answer.ts'

/** A call that needs an approval. */
export type WaitingApproval = Extract<HumanRequest, { kind: 'approval' }>

/** Whether the user can answer it now. */
export function isAnswerable(request: HumanRequest): request is WaitingApproval {
  return request.kind === 'approval' && request.state === 'waiting' && request.mayAnswer
}

type Decision = 'allow' | 'deny'

const DONE = { allow: 'Allowed', deny: 'Denied' } as const

interface SendAll {
  readonly isBusy: boolean
  /** What became of the answers, if not all of them count. */
  readonly sent: readonly SentAnswer[] | undefined
  send(calls: readonly WaitingApproval[], reason: string): Promise<void>
}

/** Gives several calls the same answer, each once; `onDone` is called if all of the answers count. */
export function useSendAll(decision: Decision, onDone: () => void): SendAll {
  const [sent, setSent] = useState<readonly SentAnswer[]>()
  const [isBusy, setBusy] = useState(false)
  const isSent = useRef(false)
  return {
    isBusy,
    sent,
    async send(calls, reason) {
      if (isSent.current) return
      isSent.current = true
      setBusy(true)
      const text = reason.trim()
      const outcome = await answerEach(calls, (id) =>
        api.approvals.answer(id, { decision, remember: 'once', ...(text && { reason: text }) }),
      )
      refreshResources('approvals')
      setBusy(false)
      const done = outcome.filter((each) => each.outcome === 'done').length
      if (done > 0)
        lastAnswer.set({
          words: DONE[decision],
          isYes: decision === 'allow',
          subject: countCalls(done),
          at: Date.now(),
        })
      if (done === outcome.length) onDone()
      else setSent(outcome)
    },
  }
}

/** `1 call`, `3 calls`. */
export function countCalls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`
}

const MAX_PREVIEW = 300

/** The calls that get the answer, for confirmation. */
export function ChosenCalls({ label, requests }: { label: string; requests: readonly WaitingApproval[] }) {
  return (
    <ul className={styles.choices} aria-label={label}>
      {requests.map((request) => (
        <li key={request.id} className={styles.choice}>
          <CallWords request={request} isOver={false} />
        </li>
      ))}
    </ul>
  )
}

/** The tool, the agent and a preview of a call; its place, if a script makes it. */
export function CallWords({ request, isOver }: { request: WaitingApproval; isOver: boolean }) {
  return (
    <span className={styles.what}>
      <span>
        <VisibleText text={request.tool} />{' '}
        <span className={styles.quiet}>
          {isOfScript(request) && `in ${placeOf(request)} of a script `}by <VisibleText text={request.caller} />
          {isOver && ', no longer waiting'}
        </span>
      </span>
      <code className={styles.preview}>
        <VisibleText text={previewOf(request).slice(0, MAX_PREVIEW)} />
      </code>
      <CallDangers request={request} />
    </span>
  )
}

/** What to know before several calls get one answer. */
function CallDangers({ request: { risks = [], labels, unproven } }: { request: WaitingApproval }) {
  if (risks.length === 0 && !labels.includes('untrusted') && unproven === undefined) return null
  return (
    <span className={styles.row}>
      {risks.map((risk) => (
        <Badge key={risk} tone="warn">
          <VisibleText text={risk} />
        </Badge>
      ))}
      {labels.includes('untrusted') && <Badge tone="warn">untrusted</Badge>}
      {unproven && (
        <Badge tone="warn">
          <VisibleText text={`not shown to come from the user: ${unproven.join(', ')}`} />
        </Badge>
      )}
    </span>
  )
}

interface SentDialogProps {
  readonly decision: Decision
  readonly sent: readonly SentAnswer[]
  readonly onClose: () => void
}

/** The calls that did not get the answer, and why. */
export function SentDialog({ decision, sent, onClose }: SentDialogProps) {
  const word = DONE[decision].toLowerCase()
  const titles = { late: 'Already answered:', failed: `Not ${word}:` } as const
  const done = sent.filter(({ outcome }) => outcome === 'done').length
  return (
    <Dialog isOpen onClose={onClose} title={`Not all were ${word}`} footer={<Button onClick={onClose}>Close</Button>}>
      <p>
        {done} of {sent.length} were {word}.
      </p>
      {sent.map(({ id, tool, outcome, words }) =>
        outcome === 'done' ? null : (
          <Note
            key={id}
            tone={outcome === 'late' ? 'info' : 'bad'}
            title={<VisibleText text={`${titles[outcome]} ${tool}`} />}
          >
            {words !== undefined && (
              <p>
                <VisibleText text={words} />
              </p>
            )}
          </Note>
        ),
      )}
    </Dialog>
  )
}
