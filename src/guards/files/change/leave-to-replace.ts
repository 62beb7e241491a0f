import type { FileState } from '../../../change.ts'
import { ToolError } from '../../../errors.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import type { ChangeScope } from './change-scope.ts'

/** Refuses, before any work, to replace what the call can have no leave for, whatever its content turns out to be. */
export function checkMayReplace(scope: ChangeScope, target: Target, replaces: string | undefined): void {
  const seen = scope.call.seen?.get(target.path)
  const canHaveSeen = seen !== undefined && (replaces === undefined || seen === replaces)
  if (!scope.call.canOverwrite && !canHaveSeen) throw noLeave(target)
}

/**
 * Decides at the moment of use: what this run has read whole may be replaced, because nobody is surprised by it; anything
 * else needs a tool and a rule that may destroy.
 */
export function checkReplaces(scope: ChangeScope, target: Target, current: FileState | undefined): void {
  const { call, door } = scope
  if (current && call.seen?.get(target.path) === current.sha256) return
  if (!call.canOverwrite) throw noLeave(target)
  door.pass(target, 'overwrite', call)
}

/** Refuses a removal by a tool that may not destroy, or that policy does not let. */
export function checkMayRemove({ call, door }: ChangeScope, target: Target): void {
  door.pass(target, 'write', call)
  if (!call.canOverwrite) {
    throw new ToolError('POLICY_DENIED', `${quotePath(target.path)} may not be removed by this tool.`, {
      fix: destructive('The tool has to declare danger:destructive and a rule has to allow it.'),
    })
  }
  door.pass(target, 'overwrite', call)
}

function noLeave(target: Target): ToolError {
  const what = `${quotePath(target.path)} exists, and this run has not read what it holds now`
  return new ToolError('POLICY_DENIED', `${what}; it may not be overwritten.`, {
    fix: destructive('Read the whole file first, then write; or have a rule allow danger:destructive.'),
  })
}

function destructive(hint: string): { key: string; value: string; hint: string } {
  return { key: 'capabilities', value: 'danger:destructive', hint }
}
