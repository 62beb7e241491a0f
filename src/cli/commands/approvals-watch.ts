import { setTimeout as sleep } from 'node:timers/promises'
import { answerApproval, answerQuestion } from '../../approval/answer-ask.ts'
import type { AskBoard } from '../../approval/ask-board.ts'
import type { ReadAsk } from '../../approval/read-request.ts'
import type { ApprovalRequest, QuestionRequest } from '../../result.ts'
import { callerName } from '../hub/caller-name.ts'
import { listAsks } from '../hub/with-asks.ts'
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

/** Shows what comes into the store until Ctrl-C; on a terminal each request is asked and answered right there. */
export async function watchApprovals(board: AskBoard, flags: Flags): Promise<void> {
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  say('Watching for approvals and questions; Ctrl-C ends.')
  let shown = new Set<string>()
  while (!signal.aborted) {
    const waiting = await listAsks(board)
    for (const read of waiting) {
      if (!shown.has(read.request.id) && !signal.aborted) await show(board, read, flags)
    }
    // Only what still waits: ids that are gone need not be kept.
    shown = new Set(waiting.map(({ request }) => request.id))
    // An abort ends the pause, and the loop sees it.
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

/** A request with all there is to know of it, and how to answer. */
export function describeWaiting(read: ReadAsk, flags: Flags): string {
  const how = { isFull: flags.full }
  const lines =
    read.kind === 'approval'
      ? [...describeRequest(read.request, how), ...describeAnswers(read.request, flags).map(asAnswer)]
      : [...describeQuestion(read.request, how), asAnswer(describeQuestionAnswer(read.request, flags))]
  return [describeAge(read.request), ...lines.map((line) => `  ${line}`)].join('\n')
}

function asAnswer(line: string): string {
  return `answer     ${line}`
}

async function show(board: AskBoard, read: ReadAsk, flags: Flags): Promise<void> {
  if (flags.json) return printJsonLine(read.request)
  if (!canAsk()) return print(describeWaiting(read, flags))
  say(`\n${describeAge(read.request)}`)
  try {
    await (read.kind === 'approval' ? askForYes(board, read.request) : askForAnswer(board, read.request))
  } catch (error) {
    // The call is gone, or the answer does not fit: watching goes on.
    sayError((error as Error).message)
  }
}

async function askForYes(board: AskBoard, request: ApprovalRequest): Promise<void> {
  const { askOnTerminal } = await import('../prompt/ask-on-terminal.ts')
  const reply = await askOnTerminal(request, { session: true })
  if (interruptSignal().aborted) return
  const isFirst = await answerApproval(board, request.id, { ...reply, via: 'terminal' }, Date.now())
  tellOutcome(request, isFirst, describeReply(request.id, reply))
}

async function askForAnswer(board: AskBoard, request: QuestionRequest): Promise<void> {
  const { answerOnTerminal } = await import('../prompt/answer-on-terminal.ts')
  say(describeQuestion(request).join('\n'))
  const reply = await answerOnTerminal(request, { signal: interruptSignal() })
  if (interruptSignal().aborted) return
  const answer = { reply, by: callerName(), via: 'terminal' }
  tellOutcome(request, await answerQuestion(board, request.id, answer, Date.now()), `Answered ${request.id}.`)
}

function tellOutcome({ id }: { readonly id: string }, isFirst: boolean | undefined, done: string): void {
  if (isFirst) say(done)
  else sayError(`${id} does not wait any more: somebody else was faster, or it was withdrawn.`)
}
