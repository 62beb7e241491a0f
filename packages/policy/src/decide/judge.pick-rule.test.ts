import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../core/src/principal.ts'
import { compilePolicy } from '../compile-policy.ts'
import type { Decision, PolicyQuestion } from '../question.ts'
import { decide } from './decide.ts'

const question: PolicyQuestion = {
  tool: 'core/fs.readText',
  names: ['core/fs.readText', 'read', 'read_file', 'core_fs_readText'],
  groups: ['group:fs'],
  capabilities: ['read:fs'],
  targets: [{ capability: 'read:fs', value: '/srv/notes/a.md' }],
  caller: 'direct',
  tainted: false,
}

function ask(list: readonly Rule[], more: Partial<PolicyQuestion> = {}): Decision {
  const owner = list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/srv' }))
  return decide(compilePolicy({ owner }), { ...question, ...more })
}

describe('specificity', () => {
  it.each<[string, Rule[], Decision['effect']]>([
    ['a group beats *', [{ ask: '*' }, { allow: 'group:fs' }], 'allow'],
    ['a capability beats *', [{ allow: '*' }, { ask: 'read:fs' }], 'ask'],
    ['a tool beats a group', [{ ask: 'group:fs' }, { allow: 'core/fs.readText' }], 'allow'],
    ['a dialect name is the tool', [{ ask: 'read:fs' }, { allow: 'read_file' }], 'allow'],
    ['a wire name is the tool', [{ ask: 'read:fs' }, { allow: 'core_fs_readText' }], 'allow'],
    ['on beats a tool', [{ ask: 'core/fs.readText' }, { allow: '*', on: './notes/**' }], 'allow'],
    [
      'with on on both, the tool beats *',
      [
        { allow: '*', on: './notes/**' },
        { ask: 'read', on: './notes/**' },
      ],
      'ask',
    ],
    [
      'with on on both, the capability beats *',
      [
        { ask: '*', on: './**' },
        { allow: 'read:fs', on: './**' },
      ],
      'allow',
    ],
    ['a tie takes the stricter', [{ allow: 'group:fs' }, { ask: 'read:fs' }], 'ask'],
    [
      'a tie with on takes the stricter',
      [
        { ask: 'read:fs', on: './**' },
        { allow: 'read:fs', on: './notes/**' },
      ],
      'ask',
    ],
    [
      'a broad deny beats the narrowest allow',
      [{ deny: '*' }, { allow: 'core/fs.readText', on: '/srv/notes/a.md' }],
      'deny',
    ],
    ['a rule on another target does not count', [{ ask: 'read:fs' }, { allow: 'read:fs', on: './other/**' }], 'ask'],
    ['a rule of another capability does not count', [{ deny: 'write:fs' }, { allow: 'read:fs' }], 'allow'],
    [
      'an exception takes the target out of an allow',
      [{ ask: '*' }, { allow: 'read:fs', except: './notes/**' }],
      'ask',
    ],
    [
      'an exception takes the target out of a deny',
      [{ allow: '*' }, { deny: 'read:fs', except: './notes/**' }],
      'allow',
    ],
  ])('%s', (_, list, effect) => {
    expect(ask(list).effect).toBe(effect)
    expect(ask(list.toReversed()).effect).toBe(effect)
  })
})

describe('limits', () => {
  it('merge the limits of the deciding rules to the strictest', () => {
    const list: Rule[] = [
      { allow: '*', limit: { timeoutMs: 1 } },
      { allow: 'read:fs', limit: { maxBytes: 10, maxResults: 7 } },
      { allow: 'group:fs', limit: { maxBytes: 5, timeoutMs: 100 } },
      { allow: 'write:fs', limit: { maxResults: 3 } },
    ]
    const targets = [...question.targets, { capability: 'write:fs', value: '/srv/x' }] as const
    const both = { capabilities: ['read:fs', 'write:fs'] as const, targets }
    expect(ask(list, both).constraints).toEqual({ maxBytes: 5, maxResults: 3, timeoutMs: 100 })
  })
})
