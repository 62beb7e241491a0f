import type { PolicyTestReport } from '../../api/types.ts'

type Change = Pick<PolicyTestReport['changed'][number], 'before' | 'after'>

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** Whether a call would get through more easily than now. */
export function isLooser({ before, after }: Change): boolean {
  return STRICTNESS[after] < STRICTNESS[before]
}

/** How many decisions change from what to what: `2 ask → deny, 6 deny → allow`. */
export function countChanges(changes: readonly Change[]): string {
  const counts = new Map<string, number>()
  for (const { before, after } of changes) {
    const kind = `${before} → ${after}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts].map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`).join(', ')
}
