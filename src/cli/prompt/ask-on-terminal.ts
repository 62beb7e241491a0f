import { isCancel, select, text } from '@clack/prompts'
import type { ApprovalReply, ApprovalRequest } from '../../core/index.ts'
import { callerName } from '../hub/caller-name.ts'
import { interrupt, interruptSignal } from '../interrupt.ts'
import { describeRequest } from '../output/describe-request.ts'
import { lineWidth, wrapText } from '../output/fit-line.ts'
import { say } from '../output/print.ts'
import { oneAtATime } from './one-at-a-time.ts'

const SHOW_ALL = 'Show all of it first'

type Covers = NonNullable<ApprovalReply['covers']>

interface Choice {
  readonly label: string
  readonly hint?: string
  readonly answer: Pick<ApprovalReply, 'decision' | 'remember' | 'covers'>
}

/** Asks the person at the terminal whether a call may happen; `session` where the asker has more calls to come. */
export function askOnTerminal(
  request: ApprovalRequest,
  options: { readonly session?: boolean } = {},
): Promise<ApprovalReply> {
  return oneAtATime(() => ask(request, options))
}

/** What a person can answer, with what each answer covers. */
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
      ? [lasting('Allow this very call for the session', 'same arguments, until the run ends', 'session', 'exact')]
      : []),
    lasting('Allow this very call always', 'same arguments; saved, see tool-hub grants', 'always', 'exact'),
    ...(coverage.pattern !== undefined
      ? [
          ...(session
            ? [lasting(`Allow ${coverage.pattern} for the session`, 'until the run ends', 'session', 'pattern')]
            : []),
          lasting(
            `Allow ${coverage.pattern} always in this project`,
            'saved, see tool-hub grants',
            'always',
            'pattern',
          ),
        ]
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

/** The prompt took Ctrl-C from us: it means the whole command, not only the question. */
function cancelled(by: string): ApprovalReply {
  interrupt()
  return { decision: 'deny', reason: 'interrupted', by }
}
