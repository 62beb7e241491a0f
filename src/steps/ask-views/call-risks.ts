import type { DecisionRedactor } from '../../record/decision-redactor.ts'
import type { AskView } from '../../result.ts'
import { revealLine } from '../../value/escape-text.ts'
import type { Call } from '../call.ts'

const MAX_HOSTS = 3

/** What is dangerous about a call, in words: first the part of a command that decides, then the others, then capabilities. */
export function callRisks(call: Call, views: readonly AskView[], redactor: DecisionRedactor): string[] {
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
