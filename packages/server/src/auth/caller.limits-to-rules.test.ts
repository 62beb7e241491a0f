import { expect, it } from 'vitest'
import { limitsToRules } from './caller.ts'

const owner = { label: 'token ci', base: '/srv', howToAllowDanger: 'Ask the owner.' }
const dangers = [
  {
    rule: { deny: 'exec', reason: 'Commands are off over the network for token ci.' },
    source: { file: 'token ci' },
    base: '/srv',
    remedy: 'Ask the owner.',
  },
  {
    rule: {
      deny: 'danger:destructive',
      reason: 'Calls that destroy something are off over the network for token ci.',
    },
    source: { file: 'token ci' },
    base: '/srv',
    remedy: 'Ask the owner.',
  },
]

it('commands and destruction are denied, with the reason and what to do, unless danger is allowed', () => {
  expect(limitsToRules({ ...owner, limits: {} })).toEqual(dangers)
  expect(limitsToRules({ ...owner, limits: { allowDanger: false } })).toEqual(dangers)
  expect(limitsToRules({ ...owner, limits: { allowDanger: true } })).toEqual([])
})

it('its own rules come before them, with their place and their folder', () => {
  const policy = [{ deny: 'write:fs', on: './secret/**' }]
  const own = { rule: policy[0], source: { file: 'token ci#policy[0]' }, base: '/srv' }
  expect(limitsToRules({ ...owner, limits: { policy } })).toMatchObject([own, ...dangers])
  expect(limitsToRules({ ...owner, limits: { policy, allowDanger: true } })).toMatchObject([own])
})

it.each([
  ['an unknown key', { deny: 'exec', onn: 'git *' }],
  ['a pattern that cannot be read', { deny: 'read:fs', on: '[' }],
])('%s is refused when the rules are read', (_, rule) => {
  expect(() => limitsToRules({ ...owner, limits: { policy: [rule] } })).toThrow()
})
