import type { Rule } from '@tool-hub/core'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide/decide.ts'

/** Decides on a call of `mcp/mail.send` with these arguments. */
function decided(rules: readonly Rule[], input: unknown, evidence: { user?: unknown; approved?: unknown } = {}) {
  const owner = rules.map((rule, line) => ({ rule, source: { file: 'test.yaml', line }, base: '/' }))
  return decide(compilePolicy({ owner }), {
    tool: 'mcp/mail.send',
    names: ['mcp/mail.send', 'mcp_mail_send'],
    groups: ['group:mcp'],
    capabilities: ['remote'],
    targets: [{ capability: 'remote', value: 'mcp:mail/send' }],
    caller: 'direct',
    tainted: false,
    arguments: {
      tool: 'mcp/mail.send',
      input,
      evidence: {
        hasUserText: true,
        isFromUser: (value) => value === evidence.user,
        isApproved: (values) => values.every(({ argument, value }) => argument === 'to' && value === evidence.approved),
      },
    },
  })
}

const effectOf = (...given: Parameters<typeof decided>) => decided(...given).effect

describe('an allow with where', () => {
  const allows = (where: Rule['where'], input: unknown, evidence = {}) =>
    effectOf([{ allow: 'mcp/mail.send', where }], input, evidence) === 'allow'

  it('compares values, globs, lists, bounds and types', () => {
    expect(allows({ to: 'a@b.org' }, { to: 'a@b.org' })).toBe(true)
    expect(allows({ to: 'a@b.org' }, { to: 'A@b.org' })).toBe(false)
    expect(allows({ to: '*@b.org' }, { to: 'any.one@b.org' })).toBe(true)
    expect(allows({ to: ['x', '*@b.org'] }, { to: 'c@b.org' })).toBe(true)
    expect(allows({ n: { min: 1, max: 5 } }, { n: 5 })).toBe(true)
    expect(allows({ n: { max: 5 } }, { n: 6 })).toBe(false)
    expect(allows({ n: { max: 5 } }, { n: '5' })).toBe(false)
    expect(allows({ n: 5 }, { n: '5' })).toBe(false)
    expect(allows({ b: false, z: null }, { b: false, z: null })).toBe(true)
  })

  it('takes no second value in one text', () => {
    for (const to of [
      'x@evil.com,a@b.org',
      'x@evil.com a@b.org',
      '<x@evil.com>a@b.org',
      'x@evil.com@b.org',
      'a\n@b.org',
    ])
      expect(allows({ to: '*@b.org' }, { to }), to).toBe(false)
    for (const url of ['evil.com#', 'evil.com?', 'evil.com\\', 'evil.com＃', 'evil.com%2f'])
      expect(allows({ url: 'https://*.b.org/x' }, { url: `https://${url}.b.org/x` }), url).toBe(false)
    expect(allows({ url: 'https://b.org/pay?to=*' }, { url: 'https://b.org/pay?to=ann&to=eve' })).toBe(false)
    expect(allows({ path: '/srv/*' }, { path: '/srv/a/b' })).toBe(false)
    expect(allows({ path: '/srv/**' }, { path: '/srv/a b/c' })).toBe(true)
  })

  it('allows nothing above the folder that a glob names', () => {
    for (const path of ['/srv/../etc/passwd', '/srv/a/..', '/srv/..\\x', '/srv/%2e%2E/x', '/srv/.%2e%2fx'])
      expect(allows({ path: '/srv/**' }, { path }), path).toBe(false)
    expect(allows({ path: '/srv/*' }, { path: '/srv/..' })).toBe(false)
    expect(allows({ path: '/srv/**' }, { path: '/srv/a..b/c...d' })).toBe(true)
    expect(allows({ path: '/srv/../x' }, { path: '/srv/../x' })).toBe(true)
  })

  it('reads the characters of regular expressions as they are', () => {
    expect(allows({ to: 'a.c*' }, { to: 'abc' })).toBe(false)
    expect(allows({ to: '(a|b)+$*' }, { to: 'a' })).toBe(false)
    expect(allows({ to: '[a-z]*' }, { to: 'x' })).toBe(false)
    expect(allows({ to: '[a-z]*' }, { to: '[a-z]x' })).toBe(true)
  })

  it('needs every element of a list, at every level, and one at least', () => {
    expect(allows({ to: '*@b.org' }, { to: ['a@b.org', 'c@b.org'] })).toBe(true)
    expect(allows({ to: '*@b.org' }, { to: ['a@b.org', 'x@evil.com'] })).toBe(false)
    expect(allows({ to: '*@b.org' }, { to: [['a@b.org'], ['x@evil.com']] })).toBe(false)
    expect(allows({ to: '*@b.org' }, { to: [] })).toBe(false)
    expect(allows({ '/people/mail': '*@b.org' }, { people: [{ mail: 'a@b.org' }, { mail: 'c@b.org' }] })).toBe(true)
    for (const other of [{ email: 'x@evil.com' }, { mail: undefined }, null, {}, [{}]])
      expect(allows({ '/people/mail': '*@b.org' }, { people: [{ mail: 'a@b.org' }, other] })).toBe(false)
    expect(allows({ '/a~1b/c': 1 }, { 'a/b': { c: 1 } })).toBe(true)
  })

  it('never matches what is missing, too long or not of that shape', () => {
    const long = `${'a'.repeat(4_000_000)}@b.org`
    for (const input of [
      {},
      { to: undefined },
      { to: null },
      { to: { x: 1 } },
      { to: long },
      'text',
      null,
      { cc: 'a@b.org' },
    ])
      expect(allows({ to: '*@b.org' }, input)).toBe(false)
    expect(allows({ '/to/name': 'x' }, { to: 'a text' })).toBe(false)
    expect(allows({ toString: '*' }, {})).toBe(false)
    for (const n of [Number.NaN, Number.NEGATIVE_INFINITY, '3', 3n, [3, '3'], { valueOf: 3 }, true, null])
      expect(allows({ n: { max: 5 } }, { n })).toBe(false)
    expect(allows({ to: 'from-user' }, { to: undefined })).toBe(false)
  })

  it('takes evidence instead of a value', () => {
    expect(allows({ to: 'from-user' }, { to: 'a@b.org' }, { user: 'a@b.org' })).toBe(true)
    expect(allows({ to: 'from-user' }, { to: 'x@evil.com' }, { user: 'a@b.org' })).toBe(false)
    expect(allows({ to: ['from-user', 'approved-before'] }, { to: 'c@b.org' }, { approved: 'c@b.org' })).toBe(true)
    expect(allows({ cc: 'approved-before' }, { cc: 'c@b.org' }, { approved: 'c@b.org' })).toBe(false)
  })

  it('says which argument keeps it from applying', () => {
    const { reason } = decided([{ allow: 'mcp/mail.send', where: { to: '*@b.org', n: { max: 5 } } }], {
      to: 'a@b.org',
      n: 9,
    })
    expect(reason).toContain('The argument n does not match allow mcp/mail.send where to is "*@b.org" and n at most 5')
  })
})

describe('a deny or an ask with where', () => {
  const denies = (where: Rule['where'], input: unknown) =>
    effectOf([{ allow: '*' }, { deny: 'mcp/mail.*', where }], input) === 'deny'

  it('holds for any element, whatever the case and the spelling', () => {
    expect(denies({ to: '*@evil.com' }, { to: ['a@b.org', 'X@EVIL.com '] })).toBe(true)
    expect(denies({ to: '*@evil.com' }, { to: 'a/b <x@evil.com' })).toBe(true)
    expect(denies({ to: 'ｘ@evil.com' }, { to: 'x@evil.com' })).toBe(true)
    expect(denies({ n: 100 }, { n: '100' })).toBe(true)
    expect(denies({ to: '*@evil.com' }, { to: 'a@b.org' })).toBe(false)
  })

  it('holds for numbers, truth values and hidden characters in other spellings', () => {
    for (const n of ['100.0', '1e2', ' 0x64', '１００']) expect(denies({ n: 100 }, { n }), n).toBe(true)
    expect(denies({ all: true }, { all: 'TRUE' })).toBe(true)
    expect(denies({ to: '*@evil.com' }, { to: 'x@ev\u00adil.com\u200b' })).toBe(true)
    expect(denies({ n: 100 }, { n: '' })).toBe(false)
  })

  it('holds behind many elements without a value', () => {
    const people = [...Array(10_001).fill(null), { mail: 'x@evil.com' }]
    expect(denies({ '/people/mail': '*@evil.com' }, { people })).toBe(true)
    expect(denies({ '/people/mail': '*@evil.com' }, { people: [{}, { mail: 'x@evil.com' }] })).toBe(true)
    expect(denies({ '/people/mail': '*@evil.com' }, { people: [{}, null] })).toBe(false)
  })

  it('holds for what cannot be read, not for what is missing', () => {
    expect(denies({ n: { min: 100 } }, { n: Number.NaN })).toBe(true)
    expect(denies({ n: { min: 100 } }, { n: '1e9' })).toBe(true)
    expect(denies({ to: '*@evil.com' }, { to: 'a'.repeat(4_000_000) })).toBe(true)
    expect(denies({ '/to/name': 'x' }, { to: 'a text' })).toBe(true)
    expect(denies({ to: '*@evil.com' }, {})).toBe(false)
  })

  it('is more specific than on, and a deny still wins', () => {
    const rules: Rule[] = [
      { ask: 'mcp/mail.send', on: 'mcp:mail/send' },
      { allow: 'mcp/mail.*', where: { to: 'a@b.org' } },
    ]
    expect(effectOf(rules, { to: 'a@b.org' })).toBe('allow')
    expect(effectOf(rules, { to: 'c@b.org' })).toBe('ask')
    expect(effectOf([...rules, { deny: 'remote', where: { to: 'a@*' } }], { to: 'a@b.org' })).toBe('deny')
  })
})

it('decides anew for other arguments, and asks where it allows some', () => {
  const owner = [{ rule: { allow: 'my.tool', where: { n: 1 } }, source: { file: 'x' }, base: '/' } as const]
  const policy = compilePolicy({ owner })
  const ask = (input: unknown) =>
    decide(policy, {
      tool: 'my.tool',
      names: [],
      groups: [],
      capabilities: [],
      targets: [],
      caller: 'direct',
      tainted: false,
      arguments: { tool: 'my.tool', input },
    })
  expect([ask({ n: 1 }), ask({ n: 2 }), ask({ n: 1 })].map(({ effect }) => effect)).toEqual(['allow', 'ask', 'allow'])
})

it.each([
  [{}, /names no argument/],
  [{ n: { min: 5, max: 1 } }, /can never match/],
  [{ n: {} }, /write a value, a glob, a list/],
  [{ n: { least: 1 } }, /write a value, a glob, a list/],
  [{ n: [] }, /needs 1 to/],
  [{ n: Number.NaN }, /finite/],
  [{ '': 1 }, /needs a name/],
  [[], /where that is not an object/],
])('refuses where: %j', (where, message) => {
  const rule = { allow: 'x', where } as unknown as Rule
  expect(() => compilePolicy({ owner: [{ rule, source: { file: 'x' }, base: '/' }] })).toThrow(message)
})

it('takes no longer for a glob that would make a regular expression backtrack', () => {
  const rule = { allow: 'mcp/mail.send', where: { to: `${'**a'.repeat(160)}b` } }
  const started = process.cpuUsage()
  expect(effectOf([rule], { to: 'a'.repeat(16_000) })).toBe('ask')
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000)
})
