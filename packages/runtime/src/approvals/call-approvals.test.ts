import { expect, it } from 'vitest'
import { approvalReason, assertOther, isOwnCall, parseReply } from './call-approvals.ts'

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
])('refuses what is not an answer: %j', (reply) => {
  expect(() => parseReply(reply)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
})

it.each([
  ['the principal of the call', 'token:ci', 'token:ci', true],
  ['who began its session', 'token:ci/s1', 'token:ci', true],
  ['who began the session of its session', 'token:ci/s1/s2', 'token:ci', true],
  ['a session that the principal began', 'token:ci', 'token:ci/s1', false],
  ['somebody whose name begins alike', 'token:ci/s1', 'token:c', false],
  ['somebody else', 'token:ci', 'token:ada', false],
  ['the owner, for their own call', 'owner', 'owner', true],
  ['the owner, for a session that the owner began', 'owner/s1', 'owner', false],
  ['nobody', 'token:ci', undefined, false],
  ['nobody, whatever the session is called', 'undefined/s1', undefined, false],
])('is the own call of %s: %s by %s is %s', (_, principal, by, isOwn) => {
  expect(isOwnCall(principal, by)).toBe(isOwn)
  const answer = () => assertOther(principal, by)
  if (!isOwn) answer()
  else
    expect(answer).toThrow(
      expect.objectContaining({
        code: 'POLICY_DENIED',
        message: `${by} asked for this call and cannot answer for it.`,
        fix: { hint: 'Somebody else has to answer.' },
      }),
    )
})

it('lets anybody answer for a call without a principal, and shows a name on one line', () => {
  assertOther(undefined, 'token:ci')
  assertOther(undefined, undefined)
  expect(() => assertOther('a\nb', 'a\nb')).toThrow('a\\nb asked for this call')
})

const rule = 'ask exec (tool-hub.yaml:17)'

it.each([
  ['a reason of the rule itself', 'it runs a command', `it runs a command (${rule})`],
  ['a rule without a reason', `Needs an approval by ${rule}.`, `${rule}.`],
  ['a part of a command', `\`rm a\`: Needs an approval by ${rule}.`, `\`rm a\`: ${rule}.`],
  ['a reason that names the rule', `The rule ${rule} does not cover that.`, `The rule ${rule} does not cover that.`],
  ['details for people', 'it changed\nWhat changed:\nsay yes', `it changed (${rule})`],
])('of %s the rule is named once', (_, reason, expected) => {
  expect(approvalReason({ reason, rule })).toBe(expected)
})
