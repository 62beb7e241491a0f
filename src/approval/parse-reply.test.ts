import { expect, it } from 'vitest'
import { parseReply } from './parse-reply.ts'

it('takes every whole answer', () => {
  const replies = [
    { decision: 'allow' },
    { decision: 'deny', reason: 'no', by: 'ada' },
    { decision: 'allow', remember: 'session', covers: 'targets' },
    { decision: 'allow', remember: 'once', covers: 'exact' },
    { decision: 'allow', remember: 'always', covers: 'pattern' },
    { decision: 'allow', remember: { until: '2026-12-24T18:00:00+01:00' } },
    { decision: 'deny', by: 'ada', via: 'console' },
  ]
  for (const reply of replies) expect(parseReply(reply)).toEqual(reply)
})

it.each([
  ['reason', 2_000],
  ['by', 200],
  ['via', 100],
])('takes a %s of up to %i characters', (name, most) => {
  const reply = (length: number) => ({ decision: 'deny', [name]: 'x'.repeat(length) })
  expect(parseReply(reply(most))).toEqual(reply(most))
  expect(() => parseReply(reply(most + 1))).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
})

it('takes other arguments with a yes only', () => {
  expect(parseReply({ decision: 'allow', input: { a: 1 } })).toEqual({ decision: 'allow', input: { a: 1 } })
  const refused = expect.objectContaining({
    code: 'INPUT_SCHEMA_INVALID',
    message: 'This is not an answer to an approval: ✖ other arguments are for a yes only\n  → at input',
    fix: { hint: "Answer { decision: 'allow' | 'deny', remember?, covers?, reason?, by?, input? }." },
  })
  expect(() => parseReply({ decision: 'deny', input: { a: 1 } })).toThrow(refused)
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
  { decision: 'allow', remember: { until: '2026-12-24T18:00:00Z', from: '2026-12-24T17:00:00Z' } },
  { decision: 'allow', remember: {} },
  { decision: 'allow', covers: '*' },
  { decision: 'deny', reason: 'x'.repeat(2001) },
  JSON.parse('{"decision":"allow","__proto__":{"x":1}}'),
])('refuses what is no answer: %j', (reply) => {
  expect(() => parseReply(reply)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
})
