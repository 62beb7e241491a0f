import { describe, expect, it } from 'vitest'
import type { Rule, SourcedRule } from '../../core/src/principal.ts'
import { compilePolicy } from './compile-policy.ts'

const sourced = (rule: unknown, more: Partial<SourcedRule> = {}): SourcedRule => ({
  rule: rule as Rule,
  source: { file: 'tool-hub.yaml', line: 12 },
  base: '/srv',
  ...more,
})

const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) })

describe('compilePolicy', () => {
  it.each([{ allow: '*' }, { ask: 'exec' }])('refuses %j in the always layer', (rule) => {
    expect(() => compilePolicy({ always: [sourced(rule)] })).toThrow(invalid(/always layer, which may only deny/))
  })

  it.each<[string, unknown, RegExp]>([
    ['no verb', { on: 'x' }, /exactly one of allow, ask, deny/],
    ['two verbs', { allow: 'a', deny: 'b' }, /exactly one/],
    ['an empty subject', { deny: ' ' }, /exactly one/],
    ['a subject that is not a text', { deny: 5 }, /exactly one/],
    ['no object', 'deny all', /not an object/],
    ['a misspelt key', { allow: 'exec', excpet: 'rm *' }, /"excpet" is not known/],
    ['a misspelt condition', { allow: 'exec', when: { tained: false } }, /"tained" is not known/],
    ['a condition of a wrong type', { allow: 'exec', when: { tainted: 'no' } }, /when.tainted/],
    ['an unknown caller', { allow: 'exec', when: { caller: 'me' } }, /when.caller/],
    ['a misspelt limit', { allow: 'exec', limit: { maxbytes: 1 } }, /"maxbytes" is not known/],
    ['a limit that is not a number', { allow: 'exec', limit: { maxBytes: Number.NaN } }, /limit.maxBytes = NaN/],
    ['no patterns', { deny: 'exec', on: [] }, /without patterns/],
    ['an empty pattern', { deny: 'exec', on: [''] }, /without patterns/],
    ['a broken path glob', { deny: 'read:fs', on: '/a/[b' }, /"\/a\/\[b" cannot be used/],
    ['a broken glob of a tool', { deny: 'read', on: '/a/{b' }, /cannot be used/],
    ['a path as a host', { deny: 'network', on: '~/.ssh/**' }, /begins with https/],
    ['shell syntax in a command', { deny: 'exec', on: 'curl * | sh' }, /not a plain word/],
    ['another user\u2019s home', { deny: '*', on: '~bob/.ssh/**' }, /~user is not supported/],
    ['a broken exception', { allow: 'read:fs', except: '/a/[b' }, /cannot be used/],
  ])('refuses a rule with %s and names file and line', (_, rule, message) => {
    expect(() => compilePolicy({ owner: [sourced(rule)] })).toThrow(invalid(message))
    expect(() => compilePolicy({ owner: [sourced(rule)] })).toThrow(/tool-hub.yaml:12/)
  })

  it('suggests the key that was meant', () => {
    expect(() => compilePolicy({ owner: [sourced({ allow: 'exec', excpet: 'x' })] })).toThrow(
      expect.objectContaining({
        fix: expect.objectContaining({ hint: expect.stringContaining('Did you mean except') }),
      }),
    )
  })

  it('refuses a base that is not absolute and capabilities that do not exist', () => {
    expect(() => compilePolicy({ owner: [sourced({ allow: 'x' }, { base: '.' })] })).toThrow(invalid(/base/))
    expect(() => compilePolicy({ owner: [sourced({ allow: 'x' }, { about: ['fly' as never] })] })).toThrow(
      invalid(/capabilities/),
    )
  })

  it('refuses ~ without a home folder instead of leaving a dead deny', () => {
    for (const deny of ['read:fs', '*']) {
      const owner = [sourced({ deny, on: '~/.ssh/**' })]
      expect(() => compilePolicy({ owner })).toThrow(invalid(/home folder is not known/))
      expect(() => compilePolicy({ owner, home: '/home/ann' })).not.toThrow()
    }
  })
})
