import { setTimeout as sleep } from 'node:timers/promises'
import type { Inbox } from '../../approval/inbox.ts'
import type { ApprovalRequest } from '../../result.ts'
import { interruptSignal } from '../interrupt.ts'
import { describeAge, describeAnswers, describeRequest } from '../output/describe-request.ts'
import { print, printJsonLine, readerGone, say } from '../output/print.ts'
import { canAsk } from '../output/terminal.ts'
import { sayError } from '../report-error.ts'
import { describeReply } from './approvals-answer.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const LOOK_MS = 500

/** Shows what comes into the inbox until Ctrl-C; on a terminal each request is asked and answered right there. */
export async function watchApprovals(inbox: Inbox, flags: Flags): Promise<void> {
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  say('Watching for approvals; Ctrl-C ends.')
  let shown = new Set<string>()
  while (!signal.aborted) {
    const waiting = (await inbox.list()).filter(({ state }) => state === 'waiting').map(({ request }) => request)
    for (const request of waiting) {
      if (!shown.has(request.id) && !signal.aborted) await show(inbox, request, flags)
    }
    // Only what still waits: ids that are gone need not be kept.
    shown = new Set(waiting.map(({ id }) => id))
    // An abort ends the pause, and the loop sees it.
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

/** A request with all there is to know of it, and how to answer. */
export function describeWaiting(request: ApprovalRequest, flags: Flags): string {
  const lines = [...describeRequest(request), ...describeAnswers(request, flags).map((line) => `answer     ${line}`)]
  return [describeAge(request), ...lines.map((line) => `  ${line}`)].join('\n')
}

async function show(inbox: Inbox, request: ApprovalRequest, flags: Flags): Promise<void> {
  if (flags.json) return printJsonLine(request)
  if (canAsk()) return askAndAnswer(inbox, request)
  await print(describeWaiting(request, flags))
}

async function askAndAnswer(inbox: Inbox, request: ApprovalRequest): Promise<void> {
  const { askOnTerminal } = await import('../prompt/ask-on-terminal.ts')
  say(`\n${describeAge(request)}`)
  const reply = await askOnTerminal(request, { session: true })
  if (interruptSignal().aborted) return
  try {
    await inbox.answer(request.id, reply)
    say(describeReply(request.id, reply))
  } catch (error) {
    // Somebody else was faster, or the call is gone: watching goes on.
    sayError((error as Error).message)
  }
}
