import { isCancel, note, select, text } from '@clack/prompts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { callerName } from './caller-name.ts'
import { describeRequest } from './describe-request.ts'
import { interrupt, interruptSignal } from './interrupt.ts'

const CHOICES = [
  { value: 'once', label: 'Allow once' },
  { value: 'session', label: 'Allow for this session', hint: 'this very call, until the run ends' },
  { value: 'always', label: 'Allow always', hint: 'this very call, saved; see tool-hub grants' },
  { value: 'deny', label: 'Deny, with a reason' },
] as const

let previous: Promise<unknown> = Promise.resolve()

/** Asks the person at the terminal; one question at a time, however many calls wait. */
export function askOnTerminal(request: ApprovalRequest): Promise<ApprovalReply> {
  const answer = previous.then(() => ask(request))
  previous = answer.catch(() => {})
  return answer
}

async function ask(request: ApprovalRequest): Promise<ApprovalReply> {
  const place = { output: process.stderr, signal: interruptSignal() }
  const by = callerName()
  note(describeRequest(request).join('\n'), `May ${request.tool} do this?`, { ...place, format: (line) => line })
  const choice = await select({ ...place, message: 'Your answer', options: [...CHOICES], showInstructions: false })
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
