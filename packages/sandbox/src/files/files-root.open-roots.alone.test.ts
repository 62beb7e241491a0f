import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'
import { openRoots } from './roots.ts'

// A /proc that does not belong to this process: names below a descriptor lead elsewhere.
vi.mock('node:fs', async (original) => ({ ...(await original<typeof import('node:fs')>()), statSync: () => undefined }))

it('opens nothing where names below a descriptor lead elsewhere', () => {
  const unavailable = expect.objectContaining({
    code: 'SANDBOX_UNAVAILABLE',
    fix: expect.objectContaining({ hint: expect.stringContaining('/proc') }),
  })
  expect(() => openRoots([{ path: tmpdir(), mode: 'read' }])).toThrow(unavailable)
})
