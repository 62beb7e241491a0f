import type { ApprovalReply, ApprovalRequest } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { interrupt, interruptSignal } from '../exit.ts'
import { callerName } from '../invocation.ts'
import { wrapText } from '../output/layout.ts'
import { canAsk, print, style } from '../output/print.ts'

const PATIENCE_MS = 20_000
const INDENT = 13

/** Answers the question of the demo: the person; nobody who could is a yes, but nobody who does is a no, as anywhere. */
export async function answerInDemo(
  { tool, targets, reason }: ApprovalRequest,
  { number, patienceMs = PATIENCE_MS }: { readonly number: number; readonly patienceMs?: number },
): Promise<ApprovalReply> {
  const title = `\n${style('bold', String(number).padStart(2))} ${style('yellow', 'asked')}     ${style('bold', tool)}`
  await print([title, ...[`wants ${targets.join(', ')}`, `because ${reason}`].map(indent)].join('\n'))
  if (!canAsk()) {
    await print(indent('Nobody is at a terminal: yes (only in this demo; an ask that nobody can answer is a no).'))
    return { decision: 'allow', by: 'demo (no terminal)' }
  }
  const { isCancel, select } = await import('@clack/prompts')
  const patience = AbortSignal.timeout(patienceMs)
  const seconds = Math.round(patienceMs / 1_000)
  const choice = await select({
    message: `Your answer (no, if you say nothing for ${seconds} seconds)`,
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
  if (patience.aborted)
    return { decision: 'deny', by: 'demo (silence)', reason: `nobody answered within ${seconds} seconds` }
  interrupt()
  return { decision: 'deny', by: callerName(), reason: 'interrupted' }
}

function indent(line: string): string {
  return wrapText(`${' '.repeat(INDENT)}${escapeLine(line)}`, INDENT)
}
