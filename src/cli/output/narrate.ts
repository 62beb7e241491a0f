import type { Hub } from '../../hub.ts'
import type { HubOptions } from '../../options.ts'
import type { ApprovalRequest, ContentBlock } from '../../result.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import { describeAnswers } from './describe-request.ts'
import { say } from './print.ts'
import { style } from './terminal.ts'

/** Tells people what calls are doing: their progress, and how to answer what waits for another process. */
export function narrate(
  hub: Hub,
  { approve, approvals }: HubOptions,
  flags: { readonly config?: string },
  tellProgress: (block: ContentBlock) => void = sayProgress,
): void {
  hub.onEvent((event) => {
    if (event.type === 'call-progressed') event.content.forEach(tellProgress)
    if (event.type !== 'approval-requested' || !approvals?.inbox || approve) return
    sayWaiting(event.request, approvals, flags)
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
  say(escapeLine(`${request.tool} waits${long} for an approval, by ${request.rule}`))
  for (const line of describeAnswers(request, flags)) say(`  ${line}`)
}
