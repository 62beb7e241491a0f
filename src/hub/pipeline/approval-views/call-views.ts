import { type ApprovalView, ToolError } from '../../../core/index.ts'
import { revealLine } from '../../../lib/index.ts'
import type { DecisionRedactor } from '../../../records/redaction/index.ts'
import type { RunState, Runtime } from '../../runtime.ts'
import type { Call, DecidedCall } from '../call.ts'
import { commandViews } from './command-views.ts'
import { diffViews, lookBriefly } from './diff-views.ts'

const MAX_HOSTS = 3

/**
 * What the approver sees of a call in addition to its arguments: commands as policy reads them, changes to files, and where
 * requests would go. Without secrets, within seconds, and never a reason for the call to fail.
 */
export async function viewsOf(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  redactor: DecisionRedactor,
): Promise<readonly ApprovalView[]> {
  const [diffs, urls] = await Promise.all([
    diffViews(runtime, run, call, redactor),
    urlViews(runtime, run, call, redactor),
  ])
  return [...commandViews(runtime, run, call, redactor), ...diffs, ...urls]
}

/** What is dangerous about a call, in words: first the part of a command that decides, then the others, then capabilities. */
export function callRisks(call: DecidedCall, views: readonly ApprovalView[], redactor: DecisionRedactor): string[] {
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

const MAX_URLS = 5

/** Where a request would go. */
type UrlView = Extract<ApprovalView, { kind: 'url' }>
type Location = Pick<UrlView, 'addresses' | 'problem'>

/** Where the requests of a call would go, and the current addresses of the hosts. */
export async function urlViews(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  redactor: DecisionRedactor,
): Promise<UrlView[]> {
  const urls = call.targets.flatMap(({ capability, value }) =>
    capability === 'network' || capability === 'send' ? [value] : [],
  )
  const show = (text: string) => revealLine(redactor.text(text))
  const first = [...new Set(urls)].slice(0, MAX_URLS)
  return Promise.all(first.map(async (url) => urlView(url, await locate(runtime, run, call, url), show)))
}

function urlView(url: string, { addresses, problem }: Location, show: (text: string) => string): UrlView {
  return { kind: 'url', url: show(url), addresses: addresses.map(show), ...(problem && { problem: show(problem) }) }
}

/** A resolver sees the name before the approval: never one that holds a secret, or that outside content may have made up. */
async function locate(runtime: Runtime, run: RunState, call: DecidedCall, url: string): Promise<Location> {
  const { hostname } = new URL(url)
  if (runtime.redactor.text(hostname) !== hostname) return unknown('its name holds a secret')
  const network = run.sandbox.network()
  try {
    const place = await lookBriefly(runtime, call, () => network.locate(url, { onlyNamed: run.tainted }))
    if (place !== undefined) return { addresses: place.addresses }
    return unknown('the run has read content from outside, and the name itself could carry data out')
  } catch (error) {
    return { addresses: [], problem: ToolError.is(error) ? error.message : 'Its addresses could not be looked up.' }
  }
}

function unknown(why: string): Location {
  return { addresses: [], problem: `Its addresses were not looked up: ${why}.` }
}
