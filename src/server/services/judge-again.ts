import type { CallOptions } from '../../core/index.ts'
import type { Explanation, RecordedCall } from '../../hub/index.ts'
import type { Policy } from '../../policy/index.ts'

/** `hub.explain`, also by other rules than those that hold. */
export type Judge = (
  tool: string,
  input: unknown,
  options: CallOptions & { readonly policy?: Policy },
) => Promise<Explanation>

/** A recorded call as other rules would decide it. */
export interface JudgedAgain {
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
