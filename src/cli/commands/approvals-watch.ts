import { setTimeout as sleep } from 'node:timers/promises'
import type { Inbox } from '../../approval/inbox.ts'
import { escapeLine } from '../../escape-text.ts'
import type { ApprovalRequest } from '../../result.ts'
import { interruptSignal } from '../interrupt.ts'
import { describeRequest } from '../output/describe-request.ts'
import { print, printJsonLine, readerGone, say } from '../output/print.ts'
import { canAsk } from '../output/terminal.ts'
import { sayError } from '../report-error.ts'

const LOOK_MS = 500

/** Shows what comes into the inbox until Ctrl-C; on a terminal each request is asked and answered right there. */
export async function watchApprovals(inbox: Inbox, { json = false }: { readonly json?: boolean }): Promise<void> {
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  say('Watching for approvals; Ctrl-C ends.')
  let shown = new Set<string>()
  while (!signal.aborted) {
    const waiting = (await inbox.list()).filter(({ state }) => state === 'waiting').map(({ request }) => request)
    for (const request of waiting) {
      if (!shown.has(request.id) && !signal.aborted) await show(inbox, request, json)
    }
    // Only what still waits: ids that are gone need not be kept.
    shown = new Set(waiting.map(({ id }) => id))
    // An abort ends the pause, and the loop sees it.
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

async function show(inbox: Inbox, request: ApprovalRequest, json: boolean): Promise<void> {
  if (json) return printJsonLine(request)
  if (canAsk()) return askAndAnswer(inbox, request)
  await print([escapeLine(request.id), ...describeRequest(request).map((line) => `  ${line}`)].join('\n'))
}

async function askAndAnswer(inbox: Inbox, request: ApprovalRequest): Promise<void> {
  const { askOnTerminal } = await import('../prompt/ask-on-terminal.ts')
  const reply = await askOnTerminal(request)
  if (interruptSignal().aborted) return
  try {
    await inbox.answer(request.id, reply)
  } catch (error) {
    // Somebody else was faster, or the call is gone: watching goes on.
    sayError((error as Error).message)
  }
}
