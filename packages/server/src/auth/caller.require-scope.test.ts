import type { Scope } from '@tool-hub/core/protocol/shapes'
import { expect, it } from 'vitest'
import { requireScope } from './caller.ts'

it.each<[Scope, string]>([
  ['call', 'call tools'],
  ['approve', 'answer approvals'],
  ['read', 'look at everything'],
  ['admin', 'change tokens and policy'],
])('%s is needed to %s', (scope, what) => {
  expect(() => requireScope({ name: 'token:ci', scopes: new Set([scope]) }, scope)).not.toThrow()
  expect(() => requireScope({ name: 'token:ci', scopes: new Set() }, scope)).toThrow(
    expect.objectContaining({
      code: 'FORBIDDEN',
      message: `token:ci may not ${what}: its scopes are none.`,
      fix: { hint: `Use a token with the scope ${scope}: tool-hub tokens add NAME --scopes ${scope}` },
    }),
  )
})

it('names the scopes that there are', () => {
  const caller = { name: 'token:ci', scopes: new Set<Scope>(['call', 'read']) }
  expect(() => requireScope(caller, 'admin')).toThrow('its scopes are call, read.')
})
