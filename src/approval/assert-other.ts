import { ToolError } from '../errors.ts'
import { escapeLine } from '../value/escape-text.ts'

/** Nobody approves their own call. */
export function assertOther(principal: string | undefined, by: string | undefined): void {
  if (principal === undefined || by !== principal) return
  throw new ToolError('POLICY_DENIED', `${escapeLine(principal)} asked for this call and cannot answer for it.`, {
    hint: 'Somebody else has to answer.',
  })
}
