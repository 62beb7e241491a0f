import { escapeLine } from '../../escape-text.ts'
import type { ApprovalRequest } from '../../result.ts'

const LONGEST = 2_000

/** A waiting call in words: what, with which arguments, on what, why it asks, for whom. One line each. */
export function describeRequest(request: ApprovalRequest): string[] {
  const lines = [
    ['tool', request.tool],
    ['arguments', shorten(JSON.stringify(request.input) ?? 'none')],
    ...request.targets.map((target) => ['target', target] as const),
    ['rule', request.rule],
    ['reason', request.reason],
    ['caller', request.caller],
    ...(request.purpose === undefined ? [] : [['purpose', request.purpose] as const]),
    ...request.requests.map((wish) => ['wish', wish] as const),
  ]
  return lines.map(([name, value]) => `${name!.padEnd(9)}  ${escapeLine(value!)}`)
}

function shorten(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} … ${text.length - LONGEST} more characters`
}
