import type { ApprovalRequest, ContentBlock, HubOptions, QuestionRequest } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { escapeText, revealLine } from '../../lib/index.ts'
import { describeAnswers, describeQuestionAnswer } from './describe-request.ts'
import { say } from './print.ts'
import { style } from './terminal.ts'

/** Tells people what calls are doing: their progress, and how to answer what waits for another process. */
export function narrate(
  hub: Hub,
  { approve, approvals, onQuestion }: HubOptions,
  flags: { readonly config?: string },
  tellProgress: (block: ContentBlock) => void = sayProgress,
): void {
  hub.onEvent((event) => {
    if (event.type === 'call-progressed') event.content.forEach(tellProgress)
    if (!approvals?.inbox) return
    if (event.type === 'approval-requested' && !approve) sayWaiting(event.request, approvals, flags)
    if (event.type === 'question-asked' && !onQuestion) sayQuestion(event.request, flags)
  })
}

function sayProgress(block: ContentBlock): void {
  if (block.type === 'text') say(style('dim', escapeText(block.text), process.stderr))
}

function sayWaiting(
  request: ApprovalRequest,
  { timeoutMs }: NonNullable<HubOptions['approvals']>,
  flags: { readonly config?: string },
): void {
  const long = timeoutMs === undefined ? '' : ` at most ${timeoutMs / 1_000} s`
  say(revealLine(`${request.tool} waits${long} for an approval, by ${request.rule}`))
  for (const line of describeAnswers(request, flags)) say(`  ${line}`)
}

function sayQuestion(request: QuestionRequest, flags: { readonly config?: string }): void {
  say(revealLine(`${request.tool} asks, and waits until ${request.expiresAt}: ${request.question}`))
  say(`  ${describeQuestionAnswer(request, flags)}`)
}
