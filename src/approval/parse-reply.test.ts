import { expect, it } from 'vitest'
import { parseReply } from './parse-reply.ts'

it('takes every whole answer', () => {
  const replies = [
    { decision: 'allow' },
    { decision: 'deny', reason: 'no', by: 'ada' },
    { decision: 'allow', remember: 'session', covers: 'targets' },
    { decision: 'allow', remember: { until: '2026-12-24T18:00:00+01:00' } },
  ]
  for (const reply of replies) expect(parseReply(reply)).toEqual(reply)
})

it.each([
  undefined,
  null,
  'allow',
  true,
  [],
  {},
  { decision: 'yes' },
  { decision: 'allow', remeber: 'always' },
  { decision: 'allow', remember: 'for ever' },
  { decision: 'allow', remember: { until: 'tomorrow' } },
  { decision: 'allow', covers: '*' },
  { decision: 'deny', reason: 'x'.repeat(2001) },
  JSON.parse('{"decision":"allow","__proto__":{"x":1}}'),
])('refuses what is no answer: %j', (reply) => {
  expect(() => parseReply(reply)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
})
