import type { Scope } from '@tool-hub/core/protocol/shapes'
import { expect, it } from 'vitest'
import { requireAnyScope } from './session-port.ts'

const caller = (...scopes: Scope[]) => ({ name: 'token:ci', scopes: new Set(scopes) }) as never

it('one of the scopes is enough, and none is refused', () => {
  expect(() => requireAnyScope(caller('read'), 'approve', 'read')).not.toThrow()
  expect(() => requireAnyScope(caller('call', 'admin'), 'approve', 'read')).toThrow(
    expect.objectContaining({
      code: 'FORBIDDEN',
      message: 'token:ci does not have the scope approve or read, which this needs.',
      fix: { hint: 'Use a token with the scope approve or read.' },
    }),
  )
})
