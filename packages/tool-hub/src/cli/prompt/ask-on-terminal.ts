import { isCancel, log, select, text } from '@clack/prompts'
import { type ApprovalReply, type ApprovalRequest, type Question, ToolError } from '@tool-hub/core'
import { revealLine, revealText } from '@tool-hub/core/lib'
import { interrupt, interruptSignal } from '../exit.ts'
import { callerName } from '../invocation.ts'
import { describeRequest } from '../output/describe-request.ts'
import { lineWidth, wrapText } from '../output/layout.ts'
import { say } from '../output/print.ts'

const SHOW_ALL = 'Show all of it first'

type Covers = NonNullable<ApprovalReply['covers']>

interface Choice {
  readonly label: string
  readonly hint?: string
  readonly answer: Pick<ApprovalReply, 'decision' | 'remember' | 'covers'>
}

/** Asks the person at the terminal whether a call may happen; `session` offers answers for the rest of the session. */
export function askOnTerminal(
  request: ApprovalRequest,
  options: { readonly session?: boolean } = {},
): Promise<ApprovalReply> {
  return oneAtATime(() => ask(request, options))
}

/** The answers that a person can choose, with what each covers. */
export function choicesFor(
  { coverage }: Pick<ApprovalRequest, 'coverage'>,
  { session = false }: { readonly session?: boolean },
): Choice[] {
  const lasting = (label: string, hint: string, remember: 'session' | 'always', covers: Covers) => {
    return { label, hint, answer: { decision: 'allow', remember, covers } } as const
  }
  return [
    { label: 'Allow once', answer: { decision: 'allow', remember: 'once' } },
    ...(session
      ? [lasting('Allow this exact call for the session', 'same arguments, until the run ends', 'session', 'exact')]
      : []),
    lasting('Always allow this exact call', 'same arguments; saved, see tool-hub grants', 'always', 'exact'),
    ...(coverage.pattern !== undefined
      ? [
          ...(session
            ? [lasting(`Allow for the session: ${coverage.pattern}`, 'until the run ends', 'session', 'pattern')]
            : []),
          lasting(
            `Allow always in this project: ${coverage.pattern}`,
            'saved, see tool-hub grants',
            'always',
            'pattern',
          ),
        ]
      : []),
    ...(coverage.values !== undefined
      ? [lasting(`Allow always: ${coverage.values}`, 'saved, see tool-hub grants', 'always', 'values')]
      : []),
    ...(coverage.targets !== undefined
      ? [lasting('Allow the tool on these targets always', 'any arguments; saved', 'always', 'targets')]
      : []),
    { label: 'Deny, with a reason', answer: { decision: 'deny' } },
  ]
}

async function ask(request: ApprovalRequest, options: { readonly session?: boolean }): Promise<ApprovalReply> {
  const place = { output: process.stderr, signal: interruptSignal() }
  const by = callerName()
  const width = lineWidth(process.stderr)
  const show = (lines: readonly string[]) =>
    say(['', ...lines.map((line) => wrapText(`   ${line}`, 14, width))].join('\n'))
  const brief = describeRequest(request, { seeAll: `choose “${SHOW_ALL}” below` })
  const full = describeRequest(request, { isFull: true })
  show(brief)
  const answers = choicesFor(request, options).map(({ label, hint, answer }) => ({ value: answer, label, hint }))
  const pick = (isCut: boolean) =>
    select<Choice['answer'] | 'all'>({
      ...place,
      message: 'May this call happen?',
      options: [...(isCut ? [{ value: 'all' as const, label: SHOW_ALL }] : []), ...answers],
      // Pressing only Enter does not show that somebody has read it.
      initialValue: answers.at(-1)!.value,
      showInstructions: false,
    })
  let choice = await pick(brief.join('\n') !== full.join('\n'))
  if (choice === 'all') {
    show(full)
    choice = await pick(false)
  }
  if (isCancel(choice) || choice === 'all') return cancelled(by)
  if (choice.decision === 'allow') return { ...choice, by, via: 'terminal' }
  const reason = await text({ ...place, message: 'Why not? The agent reads it.', defaultValue: '' })
  if (isCancel(reason)) return cancelled(by)
  return { decision: 'deny', by, via: 'terminal', ...(reason && { reason }) }
}

/** The prompt handles Ctrl-C, which ends the whole command and not only the question. */
function cancelled(by: string): ApprovalReply {
  interrupt()
  return { decision: 'deny', reason: 'interrupted', by }
}

let previous: Promise<unknown> = Promise.resolve()

/** Queues questions to the person at the terminal, so that they are asked one at a time. */
export function oneAtATime<T>(ask: () => Promise<T>): Promise<T> {
  const answer = previous.then(ask)
  previous = answer.catch(() => {})
  return answer
}

const OTHER = -1

/** Lets the person at the terminal answer what a tool asks (`core/ask.user`). */
export function answerOnTerminal(question: Question, { signal }: { readonly signal: AbortSignal }): Promise<string> {
  return oneAtATime(() => answerQuestion(question, { output: process.stderr, signal }))
}

type Terminal = { readonly output: NodeJS.WriteStream; readonly signal: AbortSignal }

async function answerQuestion(
  { question, context, options = [], defaultAnswer }: Question,
  terminal: Terminal,
): Promise<string> {
  const message = revealText(question)
  if (context) log.message(revealText(context), terminal)
  if (options.length > 0) {
    const known = options.map((option, index) => ({ value: index, label: revealLine(option) }))
    const all = [...known, { value: OTHER, label: 'Something else' }]
    const choice = await select({ ...terminal, message, options: all, showInstructions: false })
    if (isCancel(choice)) throw stopped(terminal)
    if (choice !== OTHER) return options[choice]!
  }
  const typed = await text({
    ...terminal,
    message,
    placeholder: defaultAnswer && revealLine(defaultAnswer),
    defaultValue: defaultAnswer,
  })
  if (isCancel(typed)) throw stopped(terminal)
  return typed
}

/** Ctrl-C ends the whole command; a stopped call needs no answer any more. */
function stopped({ signal }: Terminal): ToolError {
  if (!signal.aborted) interrupt()
  return new ToolError('ABORTED', 'The question was not answered.')
}
