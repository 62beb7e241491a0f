import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../../result.ts'
import { describeRequest } from './describe-request.ts'

const request = {
  tool: 'mcp/x.y',
  input: {},
  targets: ['remote mcp:x/y'],
  rule: 'ask remote (default)',
  reason: 'Needs an approval by ask remote (default).',
  caller: 'cli',
  run: 'run-1',
  requests: [],
} as unknown as ApprovalRequest

it('leaves out a reason only when it is nothing but the rule', () => {
  expect(describeRequest(request).join('\n')).not.toContain('reason')
  const doubted = { ...request, reason: `${request.reason} Its description was "ask remote (default)".` }
  expect(describeRequest(doubted).join('\n')).toContain('Its description was')
})

it('shows both ends of long arguments, and targets whole', () => {
  const target = `exec ${'a'.repeat(5_000)} && rm -rf /`
  const lines = describeRequest({ ...request, input: { a: 'b'.repeat(9_000), z: 'last' }, targets: [target] })
  expect(lines.find((line) => line.startsWith('arguments'))).toMatch(
    /^arguments {2}\{"a":"bbb.*more characters.*"last"\}$/,
  )
  expect(lines).toContain(`target     ${target}`)
})
