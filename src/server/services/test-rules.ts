import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CallIndex, type CallOptions, type IndexedCall, ToolError } from '../../core/index.ts'
import { type Explanation, type RecordedCall, recordedCalls } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { Policy } from '../../policy/index.ts'
import type { PolicyTestReport } from '../../protocol/index.ts'
import { toCallEntry } from './call-entries.ts'

const MAX_MS = 20_000
const MAX_CHANGED = 1_000
const CALLS_A_TURN = 20

/** What the latest calls are tried with. */
interface Trial {
  readonly judge: Judge
  readonly policy: Policy
  readonly index: CallIndex
  readonly runsFolder: string
}

/** Which of the latest recorded calls other rules would decide otherwise; what takes longer than 20 s is skipped. */
export async function testRules(
  latest: number,
  { judge, policy, index, runsFolder }: Trial,
): Promise<PolicyTestReport> {
  const calls = await index.calls({ limit: latest })
  const until = performance.now() + MAX_MS
  const changed: PolicyTestReport['changed'] = []
  let checked = 0
  for (const [run, wanted] of byRun(calls)) {
    for await (const recorded of ifThere(recordedCalls(join(runsFolder, run), new Set(wanted.keys())))) {
      if (performance.now() > until) break
      const judged = await judgeAgain(judge, recorded, { run, policy })
      if (!judged) continue
      checked++
      if (checked % CALLS_A_TURN === 0) await nextTurn()
      const { before, after } = judged
      if (before === after.effect || changed.length >= MAX_CHANGED) continue
      changed.push({
        call: toCallEntry(wanted.get(recorded.callId)!),
        before,
        after: after.effect,
        rule: escapeLine(after.rule),
        source: escapeLine(after.source),
        reason: escapeLine(after.reason),
      })
    }
  }
  changed.sort((a, b) => b.call.startedAt - a.call.startedAt)
  return { checked, skipped: calls.length - checked, changed }
}

function byRun(calls: readonly IndexedCall[]): Map<string, Map<string, IndexedCall>> {
  const runs = new Map<string, Map<string, IndexedCall>>()
  for (const call of calls) {
    const known = runs.get(call.run) ?? new Map<string, IndexedCall>()
    runs.set(call.run, known.set(call.callId, call))
  }
  return runs
}

/** A record that was removed has no calls to try; its entries in the index count as skipped. */
async function* ifThere<T>(calls: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* calls
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'NOT_FOUND') throw error
  }
}

/** `hub.explain`, also by other rules than those that hold. */
export type Judge = (
  tool: string,
  input: unknown,
  options: CallOptions & { readonly policy?: Policy },
) => Promise<Explanation>

/** A recorded call as other rules would decide it. */
interface JudgedAgain {
  readonly before: Explanation['effect']
  readonly after: Pick<Explanation, 'effect' | 'rule' | 'source' | 'reason'>
}

/**
 * Decides a recorded call by the rules that hold and by others. Both now: files and runs have changed since, and only
 * the rules are to differ. Nothing when its arguments are not on record whole, or its tool is gone.
 */
export async function judgeAgain(
  judge: Judge,
  { tool, args, caller, callerKind }: Pick<RecordedCall, 'tool' | 'args' | 'caller' | 'callerKind'>,
  { run, policy }: { readonly run: string; readonly policy: Policy },
): Promise<JudgedAgain | undefined> {
  if (args === undefined) return undefined
  const options = { run, caller, callerKind }
  const before = await judge(tool, args, options)
  if (before.error?.code === 'TOOL_NOT_FOUND') return undefined
  const { effect, rule, source, reason } = await judge(tool, args, { ...options, policy })
  return { before: before.effect, after: { effect, rule, source, reason } }
}
