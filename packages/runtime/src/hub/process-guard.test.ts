import { expect, it } from 'vitest'
import { requireSandbox } from './process-guard.ts'

it('refuses commands on Windows with the reason, unless the owner accepts that they run without a sandbox', () => {
  expect(() => requireSandbox({}, 'win32')).toThrow(
    expect.objectContaining({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('Windows'),
      fix: expect.objectContaining({ key: 'sandbox.commands.level', value: 'none' }),
    }),
  )
  expect(() => requireSandbox({ commands: { level: 'none' } }, 'win32')).not.toThrow()
  expect(() => requireSandbox({ required: false }, 'win32')).not.toThrow()
  for (const platform of ['linux', 'darwin']) expect(() => requireSandbox({}, platform)).not.toThrow()
})
