import { ToolError } from '../../core/index.ts'
import type { Scope } from '../../protocol/index.ts'
import type { Caller } from '../service.ts'

const MEANING = {
  call: 'call tools',
  approve: 'answer approvals',
  read: 'look at everything',
  admin: 'change tokens and policy',
}

/** Refuses a caller without the scope; no scope includes another. */
export function requireScope(caller: Pick<Caller, 'name' | 'scopes'>, scope: Scope): void {
  if (caller.scopes.has(scope)) return
  const scopes = [...caller.scopes].join(', ') || 'none'
  throw new ToolError('FORBIDDEN', `${caller.name} may not ${MEANING[scope]}: its scopes are ${scopes}.`, {
    hint: `Use a token with the scope ${scope}: tool-hub tokens add NAME --scopes ${scope}`,
  })
}
