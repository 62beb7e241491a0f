import { expect, it } from 'vitest'
import { hashJson } from '../value/hash.ts'
import { approvalHash } from './approval-hash.ts'

const call = { tool: 'notes.save', input: { path: 'a', text: 'b' }, targets: ['write:fs /a'], sandbox: 'full' }

it('is the same for the same call, however its input is ordered', () => {
  expect(approvalHash({ ...call, input: { text: 'b', path: 'a' } })).toBe(approvalHash(call))
})

it('changes with the tool, the input, the targets, the sandbox and the doubt', () => {
  const changes = [
    { tool: 'notes.drop' },
    { input: { path: 'a', text: 'c' } },
    { targets: [] },
    { sandbox: 'none' },
    { doubt: 'it is new' },
  ]
  const hashes = changes.map((change) => approvalHash({ ...call, ...change }))
  expect(new Set([approvalHash(call), ...hashes]).size).toBe(6)
  expect(approvalHash({ ...call, doubt: undefined })).toBe(hashJson(call))
})
