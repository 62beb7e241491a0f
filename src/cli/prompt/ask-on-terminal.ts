import { isCancel, select, text } from '@clack/prompts'
import type { ApprovalReply, ApprovalRequest } from '../../result.ts'
import { callerName } from '../hub/caller-name.ts'
import { interrupt, interruptSignal } from '../interrupt.ts'
import { describeRequest } from '../output/describe-request.ts'
import { say } from '../output/print.ts'
import { oneAtATime } from './one-at-a-time.ts'

const CHOICES = [
  { value: 'once', label: 'Allow once' },
  { value: 'session', label: 'Allow for this session', hint: 'this very call, until the run ends' },
  { value: 'always', label: 'Allow always', hint: 'this very call, saved; see tool-hub grants' },
  { value: 'deny', label: 'Deny, with a reason' },
] as const

/** Asks the person at the terminal whether a call may happen. */
export function askOnTerminal(request: ApprovalRequest): Promise<ApprovalReply> {
  return oneAtATime(() => ask(request))
}

async function ask(request: ApprovalRequest): Promise<ApprovalReply> {
  const place = { output: process.stderr, signal: interruptSignal() }
  const by = callerName()
  say(['', ...describeRequest(request).map((line) => `   ${line}`)].join('\n'))
  const choice = await select({
    ...place,
    message: 'May this call happen?',
    options: [...CHOICES],
    showInstructions: false,
  })
  if (isCancel(choice)) return cancelled(by)
  if (choice !== 'deny') return { decision: 'allow', remember: choice, by }
  const reason = await text({ ...place, message: 'Why not? The agent reads it.', defaultValue: '' })
  if (isCancel(reason)) return cancelled(by)
  return { decision: 'deny', by, ...(reason && { reason }) }
}

/** The prompt took Ctrl-C from us: it means the whole command, not only the question. */
function cancelled(by: string): ApprovalReply {
  interrupt()
  return { decision: 'deny', reason: 'interrupted', by }
}
