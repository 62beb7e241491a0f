import { expect, it } from 'vitest'
import { sandboxKey } from './sandbox.ts'

const SANDBOX = { level: 'full', file: '/usr/bin/bwrap', args: ['--a'], env: { A: '1', B: '2' } } as const

it('is short and the same for the same sandbox, however its environment is ordered', () => {
  expect(sandboxKey(SANDBOX)).toMatch(/^[\w-]{22}$/)
  expect(sandboxKey({ ...SANDBOX, env: { B: '2', A: '1' } })).toBe(sandboxKey(SANDBOX))
})

it('is another one for each thing that a sandbox is started with', () => {
  const others = [
    { level: 'namespaces' as const },
    { file: '/bin/x' },
    { args: ['--b'] },
    { env: { A: '1' } },
    { env: { A: '1', B: '3' } },
    { helper: ['x'] },
  ]
  const keys = [{}, ...others].map((parts) => sandboxKey({ ...SANDBOX, ...parts }))
  expect(new Set(keys).size).toBe(others.length + 1)
})
