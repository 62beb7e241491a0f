import { ToolError } from '../../../core/errors.ts'
import type { ApprovalView } from '../../../core/result.ts'
import { revealLine } from '../../../lib/escape-text.ts'
import type { DecisionRedactor } from '../../../records/redaction/decision-redactor.ts'
import type { Call } from '../call.ts'
import type { Parts, RunState } from '../parts.ts'
import { lookBriefly } from './look-briefly.ts'

const MAX_URLS = 5

/** Where a request would go. */
type UrlView = Extract<ApprovalView, { kind: 'url' }>
type Location = Pick<UrlView, 'addresses' | 'problem'>

/** Where the requests of a call would go, and the current addresses of the hosts. */
export async function urlViews(
  parts: Parts,
  run: RunState,
  call: Call,
  redactor: DecisionRedactor,
): Promise<UrlView[]> {
  const urls = call.targets.flatMap(({ capability, value }) =>
    capability === 'network' || capability === 'send' ? [value] : [],
  )
  const show = (text: string) => revealLine(redactor.text(text))
  const first = [...new Set(urls)].slice(0, MAX_URLS)
  return Promise.all(first.map(async (url) => urlView(url, await locate(parts, run, call, url), show)))
}

function urlView(url: string, { addresses, problem }: Location, show: (text: string) => string): UrlView {
  return { kind: 'url', url: show(url), addresses: addresses.map(show), ...(problem && { problem: show(problem) }) }
}

/** A resolver sees the name before the approval: never one that holds a secret, or that outside content may have made up. */
async function locate(parts: Parts, run: RunState, call: Call, url: string): Promise<Location> {
  const { hostname } = new URL(url)
  if (parts.redactor.text(hostname) !== hostname) return unknown('its name holds a secret')
  const network = run.doors.network()
  try {
    const place = await lookBriefly(parts, call, () => network.locate(url, { onlyNamed: run.tainted }))
    if (place !== undefined) return { addresses: place.addresses }
    return unknown('the run has read content from outside, and the name itself could carry data out')
  } catch (error) {
    return { addresses: [], problem: ToolError.is(error) ? error.message : 'Its addresses could not be looked up.' }
  }
}

function unknown(why: string): Location {
  return { addresses: [], problem: `Its addresses were not looked up: ${why}.` }
}
