import type { ApprovalView } from '../../../core/result.ts'
import { revealLine } from '../../../lib/escape-text.ts'
import type { DecisionRedactor } from '../../../records/redaction/decision-redactor.ts'
import type { Call } from '../call.ts'
import type { Parts, RunState } from '../parts.ts'
import { commandViews } from './command-views.ts'
import { diffViews } from './diff-views.ts'
import { urlViews } from './url-views.ts'

const MAX_HOSTS = 3

/**
 * What the approver sees of a call in addition to its arguments: commands as policy reads them, changes to files, and where
 * requests would go. Without secrets, within seconds, and never a reason for the call to fail.
 */
export async function viewsOf(
  parts: Parts,
  run: RunState,
  call: Call,
  redactor: DecisionRedactor,
): Promise<readonly ApprovalView[]> {
  const [diffs, urls] = await Promise.all([diffViews(parts, run, call, redactor), urlViews(parts, run, call, redactor)])
  return [...commandViews(parts, run, call, redactor), ...diffs, ...urls]
}

/** What is dangerous about a call, in words: first the part of a command that decides, then the others, then capabilities. */
export function callRisks(call: Call, views: readonly ApprovalView[], redactor: DecisionRedactor): string[] {
  const parts = views.flatMap((view) => (view.kind === 'command' ? view.parts : []))
  const inOrder = [...parts.filter(({ decides }) => decides), ...parts.filter(({ decides }) => !decides)]
  const ofCommands = inOrder.flatMap(({ risks = [] }) => risks)
  return [...new Set([...ofCommands, ...ofCapabilities(call).map((words) => revealLine(redactor.text(words)))])]
}

function ofCapabilities({ capabilities, targets }: Call): string[] {
  const risks = []
  if (capabilities.includes('danger:destructive'))
    risks.push(capabilities.includes('write:fs') ? 'Deletes or overwrites files' : 'Can destroy something for good')
  if (capabilities.includes('send')) risks.push(`Sends data to ${hostsOf(targets) || 'the network'}`)
  if (capabilities.includes('remote'))
    risks.push('Is carried out by another program or server: what it does there cannot be limited here')
  return risks
}

function hostsOf(targets: Call['targets']): string {
  const hosts = targets.flatMap(({ capability, value }) =>
    capability === 'send' && URL.canParse(value) ? [new URL(value).host] : [],
  )
  const named = [...new Set(hosts)]
  const more = named.length - MAX_HOSTS
  return named.slice(0, MAX_HOSTS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
