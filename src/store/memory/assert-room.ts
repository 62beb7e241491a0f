import { ToolError } from '../../errors.ts'

/** Refuses one more of what may not be forgotten to make room. */
export function assertRoom(held: { readonly size: number }, most: number, what: string): void {
  if (held.size < most) return
  throw new ToolError('BUDGET_EXCEEDED', `The store in memory holds ${held.size} ${what}, and at most ${most}.`, {
    hint: 'Take away what is not needed any more, or keep them in a file: openStore(folder).',
  })
}
