import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CallIndex, type CallOptions, type IndexedCall, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { PolicyTestReport } from '@tool-hub/core/protocol'
import { type Policy, STRICTNESS } from '@tool-hub/policy'
import { type Explanation, type RecordedCall, type RunMoment, recordedCalls } from '@tool-hub/runtime/hub'
import { toCallEntry } from './call-entries.ts'

const MAX_MS = 20_000
const MAX_CHANGED = 1_000
const CALLS_A_TURN = 20

/** Options of `testRules`. */
interface Trial {
  readonly judge: Judge
  readonly policy: Policy
  readonly index: CallIndex
  readonly runsFolder: string
}

/**
 * Returns the latest recorded calls that other rules would decide differently; stops after 20 s and counts the rest as
 * skipped.
 */
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

/** A record that was removed has no calls; its entries in the index count as skipped. */
async function* ifThere<T>(calls: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* calls
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'NOT_FOUND') throw error
  }
}

/** `hub.explain`, optionally with other rules than the current ones. */
export type Judge = (
  tool: string,
  input: unknown,
  options: CallOptions & { readonly policy?: Policy; readonly asOf?: RunMoment },
) => Promise<Explanation>

/** The decisions for a recorded call by the current and by other rules. */
interface JudgedAgain {
  readonly before: Explanation['effect']
  readonly after: Pick<Explanation, 'effect' | 'rule' | 'source' | 'reason'>
}

/**
 * Decides a recorded call by the current rules and by others. Both in the present state of files, which may have changed
 * since, and with what the run knew then: the user's words, approved values, and whether it was tainted.
 * Returns `undefined` if the record does not have its whole arguments, or its tool no longer exists.
 */
export async function judgeAgain(
  judge: Judge,
  recorded: RecordedCall,
  { run, policy }: { readonly run: string; readonly policy: Policy },
): Promise<JudgedAgain | undefined> {
  const { tool, args, caller, callerKind, moment: asOf } = recorded
  if (args === undefined) return undefined
  const options = { run, caller, callerKind, asOf }
  const before = await judge(tool, args, options)
  if (before.error?.code === 'TOOL_NOT_FOUND') return undefined
  const { effect, rule, source, reason } = await judge(tool, args, { ...options, policy })
  return {
    before: withTokenRules(recorded, before).effect,
    after: withTokenRules(recorded, { effect, rule, source, reason }),
  }
}

/** The decision and the rule that decided. */
type Verdict = Pick<Explanation, 'effect' | 'rule' | 'source' | 'reason'>

/**
 * The decision with the rules of the token that called. Those are not part of the policy and hold whatever it says: what
 * they denied or asked about at the time stays so, unless the policy is stricter.
 */
export function withTokenRules({ effect, rule = '' }: Pick<RecordedCall, 'effect' | 'rule'>, now: Verdict): Verdict {
  const source = / \((token [^()]*)\)$/.exec(rule)?.[1]
  if (source === undefined || (effect !== 'deny' && effect !== 'ask')) return now
  if (STRICTNESS[now.effect] >= STRICTNESS[effect]) return now
  return { effect, rule, source, reason: `Decided by ${rule}.` }
}
