import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredRequest } from '../../approvals/index.ts'
import type { ApprovalRequest, QuestionRequest } from '../../core/index.ts'
import { callerName } from '../hub/caller-name.ts'
import type { StoredApprovals } from '../hub/with-approvals.ts'
import { interruptSignal } from '../interrupt.ts'
import {
  describeAge,
  describeAnswers,
  describeQuestion,
  describeQuestionAnswer,
  describeRequest,
} from '../output/describe-request.ts'
import { print, printJsonLine, readerGone, say } from '../output/print.ts'
import { canAsk } from '../output/terminal.ts'
import { sayError } from '../report-error.ts'
import { describeReply } from './approvals-answer.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly full?: boolean
}

const LOOK_MS = 500

/** Shows new requests in the store until Ctrl-C; on a terminal each one is asked and answered right there. */
export async function watchApprovals(approvals: StoredApprovals, flags: Flags): Promise<void> {
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  say('Watching for approvals and questions; Ctrl-C ends.')
  let shown = new Set<string>()
  while (!signal.aborted) {
    const waiting = await approvals.list()
    for (const each of waiting) {
      if (!shown.has(each.request.id) && !signal.aborted) await show(approvals, each, flags)
    }
    // Only those that still wait: other ids need not be kept.
    shown = new Set(waiting.map(({ request }) => request.id))
    // An abort ends the pause, and the loop sees it.
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

/** A request with everything known about it, and how to answer. */
export function describeWaiting(waiting: StoredRequest, flags: Flags): string {
  const how = { isFull: flags.full }
  const lines =
    waiting.kind === 'approval'
      ? [...describeRequest(waiting.request, how), ...describeAnswers(waiting.request, flags).map(asAnswer)]
      : [...describeQuestion(waiting.request, how), asAnswer(describeQuestionAnswer(waiting.request, flags))]
  return [describeAge(waiting.request), ...lines.map((line) => `  ${line}`)].join('\n')
}

function asAnswer(line: string): string {
  return `answer     ${line}`
}

async function show(approvals: StoredApprovals, waiting: StoredRequest, flags: Flags): Promise<void> {
  if (flags.json) return printJsonLine(waiting.request)
  if (!canAsk()) return print(describeWaiting(waiting, flags))
  say(`\n${describeAge(waiting.request)}`)
  try {
    await (waiting.kind === 'approval'
      ? askForApproval(approvals, waiting.request)
      : askForAnswer(approvals, waiting.request))
  } catch (error) {
    // The call is gone, or the answer does not fit: continue to watch.
    sayError((error as Error).message)
  }
}

async function askForApproval(approvals: StoredApprovals, request: ApprovalRequest): Promise<void> {
  const { askOnTerminal } = await import('../prompt/ask-on-terminal.ts')
  const reply = await askOnTerminal(request, { session: true })
  if (interruptSignal().aborted) return
  const isFirst = await approvals.answer(request.id, { ...reply, via: 'terminal' })
  sayOutcome(request, isFirst, describeReply(request.id, reply))
}

async function askForAnswer(approvals: StoredApprovals, request: QuestionRequest): Promise<void> {
  const { answerOnTerminal } = await import('../prompt/answer-on-terminal.ts')
  say(describeQuestion(request).join('\n'))
  const reply = await answerOnTerminal(request, { signal: interruptSignal() })
  if (interruptSignal().aborted) return
  const isFirst = await approvals.answerQuestion(request.id, reply, { by: callerName(), via: 'terminal' })
  sayOutcome(request, isFirst, `Answered ${request.id}.`)
}

function sayOutcome({ id }: { readonly id: string }, isFirst: boolean | undefined, done: string): void {
  if (isFirst) say(done)
  else sayError(`${id} is no longer waiting: somebody else was faster, or it was withdrawn.`)
}
