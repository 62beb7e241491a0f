import { ToolError } from '../errors.ts'
import { escapeLine } from '../value/escape-text.ts'

/** Nobody approves their own call. */
export function assertOther(principal: string | undefined, by: string | undefined): void {
  if (principal === undefined || by === undefined || !isOwnCall(principal, by)) return
  throw new ToolError('POLICY_DENIED', `${escapeLine(by)} asked for this call and cannot answer for it.`, {
    hint: 'Somebody else has to answer.',
  })
}

/** A call of its own, or of a session that it began: `token:ci` began `token:ci/s1`. The owner answers for those that it began. */
export function isOwnCall(principal: string, by: string | undefined): boolean {
  if (by === undefined) return false
  return by === principal || (by !== 'owner' && principal.startsWith(`${by}/`))
}
