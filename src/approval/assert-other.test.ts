import { expect, it } from 'vitest'
import { assertOther, isOwnCall } from './assert-other.ts'

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
