import type { ApprovalRequest } from '@tool-hub/core'
import { numberLines, revealLine } from '@tool-hub/core/lib'
import { ownCommand, quoteShellWord } from '../invocation.ts'
import { countNoun } from './layout.ts'

interface DescribeOptions {
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
  { full = false, config }: DescribeOptions,
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
