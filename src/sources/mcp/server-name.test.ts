import { expect, it } from 'vitest'
import { ToolError } from '../../errors.ts'
import { assertServerName } from './server-name.ts'

it('refuses what cannot name a server, and says what can', () => {
  for (const name of ['a', 'my-server_2', 'a'.repeat(32)]) expect(() => assertServerName(name)).not.toThrow()
  for (const name of ['', '2nd', 'a b', 'a.b', 'a'.repeat(33)]) {
    const thrown = catchError(() => assertServerName(name))
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID', fix: { hint: expect.stringContaining('at most 32') } })
  }
})

function catchError(attempt: () => void): unknown {
  try {
    attempt()
  } catch (error) {
    if (ToolError.is(error)) return error
  }
  return undefined
}
