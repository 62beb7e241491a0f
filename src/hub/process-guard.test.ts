import { expect, it } from 'vitest'
import { refuseUnfenced } from './process-guard.ts'

it('refuses commands on Windows with the reason, unless the owner accepts that nothing fences them in', () => {
  expect(() => refuseUnfenced({}, 'win32')).toThrow(
    expect.objectContaining({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('Windows'),
      fix: expect.objectContaining({ key: 'sandbox.commands.level', value: 'none' }),
    }),
  )
  expect(() => refuseUnfenced({ commands: { level: 'none' } }, 'win32')).not.toThrow()
  expect(() => refuseUnfenced({ required: false }, 'win32')).not.toThrow()
  for (const platform of ['linux', 'darwin']) expect(() => refuseUnfenced({}, platform)).not.toThrow()
})
