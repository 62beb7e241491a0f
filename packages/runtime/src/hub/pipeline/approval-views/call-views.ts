import { type ApprovalView, ToolError } from '@tool-hub/core'
import { revealLine } from '@tool-hub/core/lib'
import type { DecisionRedactor } from '../../../records/redaction/index.ts'
import type { RunState } from '../../run-state.ts'
import type { Runtime } from '../../runtime.ts'
import type { DecidedCall, ValidCall } from '../call.ts'
import { commandViews } from './command-views.ts'
import { diffViews, lookBriefly, NOT_WHOLE } from './diff-views.ts'

const MAX_HOSTS = 3

/**
 * Returns what the approver sees of a call in addition to its arguments: commands as policy reads them, file changes, and
 * the destinations of requests. The views contain no secrets, take at most seconds and never fail the call.
 */
export async function viewsOf(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  redactor: DecisionRedactor,
): Promise<readonly ApprovalView[]> {
  const [diffs, urls] = await Promise.all([
    diffViews(runtime, run, decided, redactor),
    urlViews(runtime, run, decided, redactor),
  ])
  return [...commandViews(runtime, run, decided, redactor), ...diffs, ...urls]
}

/** Returns the risks of a call in plain words: the deciding command first, then the other commands, then the capabilities. */
export function callRisks(decided: DecidedCall, views: readonly ApprovalView[], redactor: DecisionRedactor): string[] {
  const parts = views.flatMap((view) => (view.kind === 'command' ? view.parts : []))
  const inOrder = [...parts.filter(({ decides }) => decides), ...parts.filter(({ decides }) => !decides)]
  const ofCommands = inOrder.flatMap(({ risks = [] }) => risks)
  return [
    ...new Set([...ofCommands, ...ofCapabilities(decided.valid).map((words) => revealLine(redactor.text(words)))]),
  ]
}

/** Warns of file changes that the views show only in part. */
export function viewWarnings(views: readonly ApprovalView[]): string[] {
  const count = views.filter((view) => view.kind === 'diff' && view.diff.startsWith(NOT_WHOLE)).length
  return count === 0 ? [] : [`WARNING: file changes that are not shown completely: ${count}.`]
}

function ofCapabilities({ capabilities, targets }: ValidCall): string[] {
  const risks = []
  if (capabilities.includes('danger:destructive'))
    risks.push(capabilities.includes('write:fs') ? 'Deletes or overwrites files' : 'Can destroy something permanently')
  if (capabilities.includes('send')) risks.push(`Sends data to ${hostsOf(targets) || 'the network'}`)
  if (capabilities.includes('remote'))
    risks.push('Runs in another program or server, whose actions cannot be limited here')
  return risks
}

function hostsOf(targets: ValidCall['targets']): string {
  const hosts = targets.flatMap(({ capability, value }) =>
    capability === 'send' && URL.canParse(value) ? [new URL(value).host] : [],
  )
  const named = [...new Set(hosts)]
  const more = named.length - MAX_HOSTS
  return named.slice(0, MAX_HOSTS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const MAX_URLS = 5

/** The destination of a request. */
type UrlView = Extract<ApprovalView, { kind: 'url' }>
type Location = Pick<UrlView, 'addresses' | 'problem'>

/** Returns the destinations of the requests of a call, with the current addresses of the hosts. */
export async function urlViews(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  redactor: DecisionRedactor,
): Promise<UrlView[]> {
  const urls = decided.valid.targets.flatMap(({ capability, value }) =>
    capability === 'network' || capability === 'send' ? [value] : [],
  )
  const show = (text: string) => revealLine(redactor.text(text))
  const first = [...new Set(urls)].slice(0, MAX_URLS)
  return Promise.all(first.map(async (url) => urlView(url, await locate(runtime, run, decided, url), show)))
}

function urlView(url: string, { addresses, problem }: Location, show: (text: string) => string): UrlView {
  return { kind: 'url', url: show(url), addresses: addresses.map(show), ...(problem && { problem: show(problem) }) }
}

/** Looks up a host before the approval, unless the name contains a secret or may come from outside content: DNS sees it. */
async function locate(runtime: Runtime, run: RunState, decided: DecidedCall, url: string): Promise<Location> {
  const { hostname } = new URL(url)
  if (runtime.redactor.text(hostname) !== hostname) return unknown('the host name contains a secret')
  const network = run.sandbox.network()
  try {
    const place = await lookBriefly(runtime, decided, () => network.locate(url, { onlyNamed: run.tainted }))
    if (place !== undefined) return { addresses: place.addresses }
    return unknown('the run has read content from outside, and the host name itself could carry data out')
  } catch (error) {
    return { addresses: [], problem: ToolError.is(error) ? error.message : 'Its addresses could not be looked up.' }
  }
}

function unknown(why: string): Location {
  return { addresses: [], problem: `Its addresses were not looked up: ${why}.` }
}
