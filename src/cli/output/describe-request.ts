import type { ApprovalRequest } from '../../result.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { ownCommand, quoteWord } from '../own-command.ts'

const LONGEST = 2_000
const TAIL = 500

/** A waiting call in words: what, with which arguments, on what, why it asks, for whom. One line each. */
export function describeRequest(request: ApprovalRequest): string[] {
  const lines = [
    ['tool', request.tool],
    ['arguments', shorten(JSON.stringify(request.input) ?? 'none')],
    ...request.targets.map((target) => ['target', target] as const),
    ['rule', request.rule],
    ...(isOnlyTheRule(request) ? [] : [['reason', request.reason] as const]),
    ['caller', `${request.caller}, run ${request.run}`],
    ...(request.purpose === undefined ? [] : [['purpose', request.purpose] as const]),
    ...request.requests.map((wish) => ['wish', wish] as const),
  ]
  return lines.map(([name, value]) => `${name!.padEnd(9)}  ${escapeLine(value!)}`)
}

/** The two commands that answer a waiting call from another shell. */
export function describeAnswers({ id }: ApprovalRequest, { config }: { readonly config?: string }): string[] {
  const command = `${ownCommand()} approvals`
  // Another config may keep its approvals in another folder.
  const where = config === undefined ? '' : ` --config ${quoteWord(config)}`
  return [`${command} allow ${id}${where}`, `${command} deny ${id}${where} --reason "…"`].map(escapeLine)
}

/** `approval-…  asked 2 minutes ago (2026-11-15T09:30:00.000Z)`. */
export function describeAge({ id, askedAt }: ApprovalRequest, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(askedAt)) / 1_000))
  const age = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
  return escapeLine(`${id}  asked ${age} ago (${askedAt})`)
}

/** A rule without a reason of its own says only itself again. More than that somebody may have put there to be read. */
function isOnlyTheRule({ rule, reason }: ApprovalRequest): boolean {
  return [rule, `Needs an approval by ${rule}.`].includes(reason)
}

/** Both ends: what matters may stand last. */
function shorten(text: string): string {
  if (text.length <= LONGEST) return text
  return `${text.slice(0, LONGEST - TAIL)} … ${text.length - LONGEST} more characters … ${text.slice(-TAIL)}`
}
