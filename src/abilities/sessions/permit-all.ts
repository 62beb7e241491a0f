import type { AbilityCall } from '../../contracts/ability.ts'
import { ToolError } from '../../errors.ts'
import type { StoredSession } from '../../store-parts/sessions.ts'

/**
 * A session has an id and maybe a label, and a rule may be about either: whatever it was called by, both have to pass. The
 * name in the call was judged before it; where a rule about the other one asks, somebody must have said yes to the call.
 */
export function permitAll(call: AbilityCall, named: string, { id, label }: StoredSession): void {
  call.permits('session', named)
  for (const name of [id, label]) {
    if (name === undefined || name === named) continue
    const answer = call.allows('session', name)
    if (answer.ok || (answer.effect === 'ask' && call.isApproved)) continue
    throw new ToolError('POLICY_DENIED', `The session ${named} is also ${name}, which is ${answer.why}.`, {
      hint: answer.effect === 'ask' ? `Call it ${name}, so that a person can be asked.` : undefined,
    })
  }
}
