import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'
import { openRoots } from './open-roots.ts'

// A machine without /proc.
vi.mock('node:fs', async (original) => ({ ...(await original<typeof import('node:fs')>()), statSync: () => undefined }))

it('opens nothing where names cannot be opened below a descriptor', () => {
  const unavailable = expect.objectContaining({
    code: 'SANDBOX_UNAVAILABLE',
    message: expect.stringContaining('/proc'),
  })
  expect(() => openRoots([{ path: tmpdir(), mode: 'read' }])).toThrow(unavailable)
})
