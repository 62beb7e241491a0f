import { escapeText } from '../../escape-text.ts'
import type { Hub } from '../../hub.ts'
import type { ApprovalRequest, ContentBlock } from '../../result.ts'
import { say } from './print.ts'
import { style } from './terminal.ts'

/** Tells people what calls are doing: their progress, and with `wait` how to answer what they wait for. */
export function narrate(hub: Hub, { wait }: { readonly wait?: string }): void {
  hub.onEvent((event) => {
    if (event.type === 'call-progressed') event.content.forEach(sayProgress)
    if (event.type === 'approval-requested' && wait !== undefined) sayWaiting(event.request)
  })
}

function sayProgress(block: ContentBlock): void {
  if (block.type === 'text') say(style('dim', escapeText(block.text), process.stderr))
}

function sayWaiting({ id, tool, rule }: ApprovalRequest): void {
  say(escapeText(`${tool} waits for an approval, by ${rule}`))
  say(`  tool-hub approvals allow ${id}`)
  say(`  tool-hub approvals deny ${id} --reason "…"`)
}
