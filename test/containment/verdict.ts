import type { CommandResult } from '../../packages/runtime/src/tools/exec/command-result.ts'
import type { Attempt } from './attempts.ts'
import type { Outcome } from './order.ts'

/** How an attempt ended: broken is neither, and proves nothing. */
export interface Verdict {
  readonly verdict: 'ESCAPED' | 'HELD' | 'BROKEN'
  readonly text: string
  /** How strongly it was sandboxed. */
  readonly sandbox: string | undefined
}

/** Reads the one line that an attempt must print, and what it left. */
export function verdictOf(attempt: Attempt, { result, left = [] }: Outcome): Verdict {
  const data = result?.data as Partial<CommandResult> | undefined
  const sandbox = data?.sandbox
  if (left.length > 0) return { verdict: 'ESCAPED', text: `left the processes ${left}`, sandbox }
  if (result?.error?.code === 'INTERNAL') return { verdict: 'BROKEN', text: result.error.message, sandbox }
  if (attempt.before === 'kill hub') return { verdict: 'HELD', text: 'ended with the hub', sandbox: 'full' }
  const [, verdict, text] = /^(ESCAPED|HELD|BROKEN): (.*)\n$/.exec(data?.stdout ?? '') ?? []
  if (verdict !== undefined) return { verdict: verdict as Verdict['verdict'], text: text!, sandbox }
  const isKilled = data?.signal !== undefined || (data?.exitCode ?? 0) > 128
  if (isKilled && data?.stdout === '' && attempt.isKilledWhenHeld)
    return { verdict: 'HELD', text: `was killed: ${data.signal ?? data.exitCode}`, sandbox }
  if (attempt.isRefusedWhenHeld && result && !result.ok && data?.stdout === undefined)
    return { verdict: 'HELD', text: `was not started: ${result.error?.message}`, sandbox: 'full' }
  return { verdict: 'BROKEN', text: JSON.stringify(data ?? result), sandbox }
}

/** One escape in many turns is an escape. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  const of = (kind: Verdict['verdict']) => verdicts.find(({ verdict }) => verdict === kind)
  return of('ESCAPED') ?? of('BROKEN') ?? verdicts[0]!
}
