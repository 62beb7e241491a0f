import type { ApprovalRequest, ApprovalView, ContentBlock, HubOptions, QuestionRequest } from '@tool-hub/core'
import { escapeText, numberLines, revealLine } from '@tool-hub/core/lib'
import { describePlace } from '@tool-hub/runtime/approvals'
import type { Hub } from '@tool-hub/runtime/hub'
import { ownCommand, quoteShellWord } from '../invocation.ts'
import { countNoun } from './layout.ts'
import { say, style } from './print.ts'

const MAX_LENGTH = 2_000
const TAIL = 500
const MAX_DIFF_HEAD = 30
const MAX_DIFF_TAIL = 10

interface DescribeOptions {
  /** Everything, however long. */
  readonly isFull?: boolean
  /** Where everything can be seen. */
  readonly seeAll?: string
}

/**
 * A waiting call in words: what, with which arguments, on what, why it asks, for whom. One line each. What is long is
 * shortened, with the number of characters or lines that are missing and where they can be seen.
 */
export function describeRequest(request: ApprovalRequest, options: DescribeOptions = {}): string[] {
  const json = JSON.stringify(request.input) ?? 'none'
  const lines = [
    ['tool', request.tool],
    ...(request.script === undefined ? [] : [['script', describePlace(request.script)] as const]),
    ['arguments', options.isFull ? json : shorten(json, options)],
    ...request.targets.map((target) => ['target', target] as const),
    ...(request.risks ?? []).map((risk) => ['risk', risk] as const),
    ...request.views.flatMap((view) => describeView(view, options)),
    ['rule', request.rule],
    ...(isOnlyTheRule(request) ? [] : [['reason', request.reason] as const]),
    ['caller', `${whoCalls(request)}, run ${request.run}`],
    ...(request.labels.includes('untrusted') ? [['run', outsideOf(request)] as const] : []),
    ...(request.purpose === undefined ? [] : [['purpose', request.purpose] as const]),
    ...(request.unproven === undefined
      ? []
      : [['unproven', `${request.unproven.join(', ')}: nothing shows that the user chose this`] as const]),
    ...(request.coverage.pattern === undefined
      ? []
      : [['pattern', `${request.coverage.pattern} (with --remember always --covers pattern)`] as const]),
    ...(request.coverage.values === undefined
      ? []
      : [['values', `${request.coverage.values} (with --remember always --covers values)`] as const]),
    ...request.requests.map((wish) => ['wish', wish] as const),
  ]
  return lines.map(([name, value]) => `${name!.padEnd(9)}  ${revealLine(value!)}`)
}

function outsideOf({ taintedBy = [] }: ApprovalRequest): string {
  return `has read content from outside${taintedBy.length === 0 ? '' : `: ${taintedBy.join(', ')}`}`
}

/** A question of a tool in words; its form is shown as it is. */
export function describeQuestion(request: QuestionRequest, options: DescribeOptions = {}): string[] {
  const show = (text: string) => (options.isFull ? text : shorten(text, options))
  const { tool, question, context, options: choices = [], defaultAnswer, form, run } = request
  const lines = [
    ['tool', tool],
    ['question', show(question)],
    ...(context === undefined ? [] : [['context', show(context)] as const]),
    ...choices.map((option) => ['option', option] as const),
    ...(form === undefined ? [] : [['form', show(JSON.stringify(form))] as const]),
    ...(defaultAnswer === undefined ? [] : [['default', defaultAnswer] as const]),
    ['caller', `${whoCalls(request)}, run ${run}`],
  ]
  return lines.map(([name, value]) => `${name!.padEnd(9)}  ${revealLine(value!)}`)
}

/** The command that answers a question from another shell. */
export function describeQuestionAnswer({ id }: QuestionRequest, { config }: { readonly config?: string }): string {
  const where = config === undefined ? '' : ` --config ${quoteShellWord(config)}`
  return revealLine(`${ownCommand()} approvals answer ${id} "…"${where}`)
}

/** The two commands that answer a waiting call from another shell. */
export function describeAnswers({ id }: ApprovalRequest, { config }: { readonly config?: string }): string[] {
  const command = `${ownCommand()} approvals`
  // Another config may keep its approvals in another folder.
  const where = config === undefined ? '' : ` --config ${quoteShellWord(config)}`
  return [`${command} allow ${id}${where}`, `${command} deny ${id}${where} --reason "…"`].map(revealLine)
}

/** `approval-…  asked 2 minutes ago (2026-11-15T09:30:00.000Z)`. */
export function describeAge(
  { id, askedAt }: Pick<ApprovalRequest, 'id' | 'askedAt'>,
  now: number = Date.now(),
): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(askedAt)) / 1_000))
  const age = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
  return revealLine(`${id}  asked ${age} ago (${askedAt})`)
}

function whoCalls({ caller, principal }: Pick<ApprovalRequest, 'caller' | 'principal'>): string {
  return principal === undefined || principal === caller ? caller : `${principal} (${caller})`
}

/** What the arguments do not show: the part of a command that decides, the lines that change, where a name leads. */
function describeView(view: ApprovalView, { isFull, seeAll }: DescribeOptions): (readonly [string, string])[] {
  if (view.kind === 'url') return [['address', view.problem ?? view.addresses.join(', ')]]
  if (view.kind === 'command') {
    const deciding = view.parts.filter(({ decides }) => decides)
    return [
      ...deciding.map(({ text, effect, rule }) => ['because', `${text} (${effect}, ${rule})`] as const),
      ...(view.notes ?? []).map((note) => ['note', note] as const),
    ]
  }
  const lines = view.diff.split('\n')
  const left = lines.length - MAX_DIFF_HEAD - MAX_DIFF_TAIL
  const shown = (some: readonly string[]) => some.map((line) => ['diff', line] as const)
  if (isFull || left <= 0) return shown(lines)
  const missing = `${left === 1 ? '1 line is' : `${left} lines are`} not shown here; ${seeAll ?? defaultSeeAll()}`
  return [...shown(lines.slice(0, MAX_DIFF_HEAD)), ['missing', missing], ...shown(lines.slice(-MAX_DIFF_TAIL))]
}

/** A rule without a reason of its own says only itself again. More than that somebody may have put there to be read. */
function isOnlyTheRule({ rule, reason }: ApprovalRequest): boolean {
  return [rule, `Needs an approval by ${rule}.`].includes(reason)
}

/** Both ends: what matters may stand last. */
function shorten(text: string, { seeAll = defaultSeeAll() }: DescribeOptions): string {
  if (text.length <= MAX_LENGTH) return text
  const missing = `… ${text.length - MAX_LENGTH} characters are not shown here; ${seeAll} …`
  return `${text.slice(0, MAX_LENGTH - TAIL)} ${missing} ${text.slice(-TAIL)}`
}

function defaultSeeAll(): string {
  return `${ownCommand()} approvals --full shows them`
}

/** Shows people what calls are doing: their progress, and how to answer requests from another process. */
export function narrate(
  hub: Hub,
  { approve, approvals, onQuestion }: HubOptions,
  flags: { readonly config?: string },
  onProgress: (block: ContentBlock) => void = sayProgress,
): void {
  hub.onEvent((event) => {
    if (event.type === 'call-progressed') event.content.forEach(onProgress)
    if (!approvals?.inbox) return
    if (event.type === 'approval-requested' && !approve) sayWaiting(event.request, approvals, flags)
    if (event.type === 'question-asked' && !onQuestion) sayQuestion(event.request, flags)
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
  const where = request.script === undefined ? '' : `, in ${describePlace(request.script)},`
  say(revealLine(`${request.tool}${where} waits${long} for an approval, by ${request.rule}`))
  for (const line of describeAnswers(request, flags)) say(`  ${line}`)
}

function sayQuestion(request: QuestionRequest, flags: { readonly config?: string }): void {
  say(revealLine(`${request.tool} asks, and waits until ${request.expiresAt}: ${request.question}`))
  say(`  ${describeQuestionAnswer(request, flags)}`)
}

interface ScriptViewOptions {
  /** Every line of the source. */
  readonly full?: boolean
  readonly config?: string
}

/** A source with more lines is shown around the lines that wait. */
const MAX_LINES = 40
const CONTEXT_LINES = 3

/** The script that makes these calls: its source, with the lines that wait marked, and how to answer all of them. */
export function describeScript(
  requests: readonly ApprovalRequest[],
  source: string | undefined,
  { full = false, config }: ScriptViewOptions,
): string {
  const scripts = requests.flatMap(({ script }) => script ?? [])
  const calls = `${countNoun(requests.length, 'call')} ${requests.length === 1 ? 'waits' : 'wait'}`
  return [
    revealLine(`script ${scripts[0]?.id}  ${calls}, run ${requests[0]?.run}`),
    ...(source === undefined
      ? ['  its source is not available']
      : describeSource(source, new Set(scripts.flatMap(({ line }) => line ?? [])), full)),
    ...(requests.length > 1 ? describeAllAnswers(requests, config) : []),
  ].join('\n')
}

function describeSource(source: string, marked: ReadonlySet<number>, isFull: boolean): string[] {
  const lines = numberLines(source, marked)
  const isNear = (number: number) => [...marked].some((at) => Math.abs(at - number) <= CONTEXT_LINES)
  const shown: string[] = []
  let left = 0
  const flush = () => {
    if (left > 0)
      shown.push(`  … ${countNoun(left, 'line')} not shown here; ${ownCommand()} approvals --full shows all`)
    left = 0
  }
  for (const { number, text } of lines) {
    if (!isFull && lines.length > MAX_LINES && !isNear(number)) left++
    else {
      flush()
      shown.push(`  ${revealLine(text)}`)
    }
  }
  flush()
  return shown
}

/** Names the calls: what a script asks later is not answered by it. */
function describeAllAnswers(requests: readonly ApprovalRequest[], config: string | undefined): string[] {
  const where = config === undefined ? '' : ` --config ${quoteShellWord(config)}`
  const ids = requests.map(({ id }) => id).join(' ')
  const command = `${ownCommand()} approvals`
  return [`${command} allow ${ids}${where}`, `${command} deny ${ids}${where} --reason "…"`].map(
    (line) => `  answer all ${revealLine(line)}`,
  )
}
