import type { ApprovalReply, ApprovalRequest } from '../../result.ts'
import { callerName } from '../caller-name.ts'
import { interrupt, interruptSignal } from '../interrupt.ts'
import { print } from '../print.ts'
import { canAsk, style } from '../terminal.ts'

const PATIENCE_MS = 20_000

/** Answers the question of the demo: the person, or after 20 seconds, or without a terminal, the demo itself. */
export async function answerInDemo({ tool, targets, reason }: ApprovalRequest): Promise<ApprovalReply> {
  await print(
    `\n   ${style('yellow', 'asked')}     ${tool} wants ${targets.join(', ')}\n             because ${reason}`,
  )
  if (!canAsk()) {
    await print('             nobody is at a terminal, so the demo says yes')
    return { decision: 'allow', by: 'demo (no terminal)' }
  }
  const { isCancel, select } = await import('@clack/prompts')
  const patience = AbortSignal.timeout(PATIENCE_MS)
  const choice = await select({
    message: 'Your answer (yes, if you say nothing for 20 seconds)',
    options: [
      { value: 'allow', label: 'Allow once' },
      { value: 'deny', label: 'Deny' },
    ] as const,
    signal: AbortSignal.any([patience, interruptSignal()]),
    showInstructions: false,
    output: process.stderr,
  })
  if (!isCancel(choice))
    return { decision: choice, by: callerName(), ...(choice === 'deny' && { reason: 'not in this demo' }) }
  if (patience.aborted) return { decision: 'allow', by: 'demo (20 seconds passed)' }
  interrupt()
  return { decision: 'deny', by: callerName(), reason: 'interrupted' }
}
