import { expect, it } from 'vitest'
import { approvalHash } from './approval-hash.ts'

const call = { tool: 'notes.save', input: { path: 'a', text: 'b' }, targets: ['write:fs /a'], sandbox: 'full' }

it('is the same for the same call, however its input is ordered', () => {
  expect(approvalHash({ ...call, input: { text: 'b', path: 'a' } })).toBe(approvalHash(call))
})

it('changes with the tool, the input, the targets and the sandbox', () => {
  const changes = [{ tool: 'notes.drop' }, { input: { path: 'a', text: 'c' } }, { targets: [] }, { sandbox: 'none' }]
  const hashes = changes.map((change) => approvalHash({ ...call, ...change }))
  expect(new Set([approvalHash(call), ...hashes]).size).toBe(5)
})
