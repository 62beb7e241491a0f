import { ToolError } from '../../errors.ts'

/** What is said when a scope takes no more notes. */
export function scopeIsFull(scope: string, notes: number): ToolError {
  return new ToolError(
    'BUDGET_EXCEEDED',
    `The scope ${JSON.stringify(scope)} holds ${notes} notes, which is the most.`,
    {
      fix: {
        key: 'memory.limits.notes',
        hint: 'Forget notes that are not needed any more, or have the owner raise the limit.',
      },
    },
  )
}
