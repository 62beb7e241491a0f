import { ToolError } from '../../errors.ts'
import type { Scope } from '../api/shapes.ts'
import type { Visitor } from '../service.ts'

const MEANING = {
  call: 'call tools',
  approve: 'answer asks',
  read: 'look at everything',
  admin: 'change tokens and policy',
}

/** Refuses a visitor without the scope; no scope includes another. */
export function requireScope(visitor: Pick<Visitor, 'name' | 'scopes'>, scope: Scope): void {
  if (visitor.scopes.has(scope)) return
  const scopes = [...visitor.scopes].join(', ') || 'none'
  throw new ToolError('FORBIDDEN', `${visitor.name} may not ${MEANING[scope]}: its scopes are ${scopes}.`, {
    hint: `Use a token with the scope ${scope}: tool-hub tokens add NAME --scopes ${scope}`,
  })
}
