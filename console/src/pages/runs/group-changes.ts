import type { FileChange } from '../../api/types.ts'

/** The changes of one call, in the order they were told. */
export interface ChangeGroup {
  readonly key: string
  readonly callId: string
  readonly tool: string
  readonly changes: readonly FileChange[]
}

/** Changes by their call, in order; a call that comes again later is a group of its own. */
export function groupChanges(changes: readonly FileChange[]): ChangeGroup[] {
  const groups: { key: string; callId: string; tool: string; changes: FileChange[] }[] = []
  for (const change of changes) {
    const last = groups.at(-1)
    if (last?.callId === change.callId) last.changes.push(change)
    else
      groups.push({
        key: `${change.callId} ${groups.length}`,
        callId: change.callId,
        tool: change.tool,
        changes: [change],
      })
  }
  return groups
}
