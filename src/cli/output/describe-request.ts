import type { ApprovalRequest, AskView, QuestionRequest } from '../../result.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { ownCommand, quoteWord } from '../own-command.ts'

const LONGEST = 2_000
const TAIL = 500
const MOST_DIFF_LINES = 40

/** A waiting call in words: what, with which arguments, on what, why it asks, for whom. One line each. */
export function describeRequest(request: ApprovalRequest): string[] {
  const lines = [
    ['tool', request.tool],
    ['arguments', shorten(JSON.stringify(request.input) ?? 'none')],
    ...request.targets.map((target) => ['target', target] as const),
    ...request.views.flatMap(describeView),
    ['rule', request.rule],
    ...(isOnlyTheRule(request) ? [] : [['reason', request.reason] as const]),
    ['caller', `${whoCalls(request)}, run ${request.run}`],
    ...(request.labels.includes('untrusted') ? [['run', 'has read content from outside'] as const] : []),
    ...(request.purpose === undefined ? [] : [['purpose', request.purpose] as const]),
    ...request.requests.map((wish) => ['wish', wish] as const),
  ]
  return lines.map(([name, value]) => `${name!.padEnd(9)}  ${escapeLine(value!)}`)
}

/** A question of a tool in words; its form is shown as it is. */
export function describeQuestion(request: QuestionRequest): string[] {
  const { tool, question, context, options = [], defaultAnswer, form, run } = request
  const lines = [
    ['tool', tool],
    ['question', shorten(question)],
    ...(context === undefined ? [] : [['context', shorten(context)] as const]),
    ...options.map((option) => ['option', option] as const),
    ...(form === undefined ? [] : [['form', shorten(JSON.stringify(form))] as const]),
    ...(defaultAnswer === undefined ? [] : [['default', defaultAnswer] as const]),
    ['caller', `${whoCalls(request)}, run ${run}`],
  ]
  return lines.map(([name, value]) => `${name!.padEnd(9)}  ${escapeLine(value!)}`)
}

/** The command that answers a question from another shell. */
export function describeQuestionAnswer({ id }: QuestionRequest, { config }: { readonly config?: string }): string {
  const where = config === undefined ? '' : ` --config ${quoteWord(config)}`
  return escapeLine(`${ownCommand()} approvals answer ${id} "…"${where}`)
}

/** The two commands that answer a waiting call from another shell. */
export function describeAnswers({ id }: ApprovalRequest, { config }: { readonly config?: string }): string[] {
  const command = `${ownCommand()} approvals`
  // Another config may keep its approvals in another folder.
  const where = config === undefined ? '' : ` --config ${quoteWord(config)}`
  return [`${command} allow ${id}${where}`, `${command} deny ${id}${where} --reason "…"`].map(escapeLine)
}

/** `approval-…  asked 2 minutes ago (2026-11-15T09:30:00.000Z)`. */
export function describeAge(
  { id, askedAt }: Pick<ApprovalRequest, 'id' | 'askedAt'>,
  now: number = Date.now(),
): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(askedAt)) / 1_000))
  const age = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
  return escapeLine(`${id}  asked ${age} ago (${askedAt})`)
}

function whoCalls({ caller, principal }: Pick<ApprovalRequest, 'caller' | 'principal'>): string {
  return principal === undefined || principal === caller ? caller : `${principal} (${caller})`
}

/** What the arguments do not show: the part of a command that decides, the lines that change, where a name leads. */
function describeView(view: AskView): (readonly [string, string])[] {
  if (view.kind === 'url') return [['address', view.problem ?? view.addresses.join(', ')]]
  if (view.kind === 'command') {
    const deciding = view.parts.filter(({ decides }) => decides)
    return deciding.map(({ text, effect, rule }) => ['because', `${text} (${effect}, ${rule})`] as const)
  }
  const lines = view.diff.split('\n')
  const left = lines.length - MOST_DIFF_LINES
  const shown = lines.slice(0, MOST_DIFF_LINES).map((line) => ['diff', line] as const)
  return left > 0 ? [...shown, ['diff', `and ${left} more lines`]] : shown
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
