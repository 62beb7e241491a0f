import { describe, expect, it } from 'vitest'
import { checkTokenForm, describeLimits, EMPTY_TOKEN, toNewToken } from './token-form.ts'

const FORM = { ...EMPTY_TOKEN, name: 'ci' }

describe('a form of a token', () => {
  it('asks for no more than was typed', () => {
    expect(checkTokenForm(FORM)).toEqual({})
    expect(toNewToken({ ...FORM, days: '' }, 0)).toEqual({ name: 'ci', scopes: ['call'] })
  })

  it('turns every field into what the service takes', () => {
    const form = {
      ...FORM,
      scopes: ['call', 'read'] as const,
      days: '7',
      profile: 'coding',
      calls: '100',
      minutes: '1.5',
      megabytes: '2',
      perSecond: '10',
      roots: '/srv/in:read\n\n /srv/out ',
      rules: '[{ "deny": "network" }]',
    }
    expect(checkTokenForm(form)).toEqual({})
    expect(toNewToken(form, 1_000)).toEqual({
      name: 'ci',
      scopes: ['call', 'read'],
      expiresAt: 1_000 + 7 * 86_400_000,
      profile: 'coding',
      budget: { calls: 100, wallMs: 90_000, bytes: 2_000_000 },
      rate: { perSecond: 10 },
      roots: [
        { path: '/srv/in', mode: 'read' },
        { path: '/srv/out', mode: 'write' },
      ],
      policy: [{ deny: 'network' }],
    })
  })

  it('takes a name in any language', () => {
    expect(checkTokenForm({ ...FORM, name: '张三' })).toEqual({})
    expect(Object.keys(checkTokenForm({ ...FORM, name: '张\u200b三' }))).toEqual(['name'])
  })

  it('says what is wrong at its field', () => {
    const wrong = { ...FORM, name: '-x', scopes: [], calls: 'many', perSecond: '0', roots: 'data', rules: '{}' }
    expect(Object.keys(checkTokenForm(wrong)).sort()).toEqual([
      'calls',
      'name',
      'perSecond',
      'roots',
      'rules',
      'scopes',
    ])
  })
})

it('describes what a token is held to', () => {
  expect(describeLimits({})).toBe('none')
  expect(
    describeLimits({
      profile: 'coding',
      budget: { calls: 1_000, wallMs: 60_000 },
      rate: { perSecond: 10 },
      policy: [{ deny: 'exec' }],
      roots: [{ path: '/srv', mode: 'read' }],
    }),
  ).toBe('profile coding; 1,000 calls per day; 1 min per day; 10 requests per second; 1 own rule; /srv (read)')
})
