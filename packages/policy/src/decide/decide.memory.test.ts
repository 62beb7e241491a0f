import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../core/src/principal.ts'
import { compilePolicy } from '../compile-policy.ts'
import type { Decision, PolicyQuestion } from '../question.ts'
import { decide } from './decide.ts'

const owner = (...list: Rule[]) => ({
  owner: list.map((rule) => ({ rule, source: { file: 'tool-hub.yaml' }, base: '/srv' })),
})

const pure: PolicyQuestion = {
  tool: 'core/util.time.now',
  names: ['core/util.time.now'],
  groups: ['group:util'],
  capabilities: [],
  targets: [],
  caller: 'direct',
  tainted: false,
}

describe('repeated questions', () => {
  it('get the same answer object when nothing about the tool changed', () => {
    const policy = compilePolicy(owner({ ask: 'x' }))
    expect(decide(policy, { ...pure })).toBe(decide(policy, { ...pure, names: [...pure.names] }))
  })

  it.each<[string, Partial<PolicyQuestion>, Decision['effect']]>([
    ['capabilities', { capabilities: ['exec'] }, 'ask'],
    ['names', { names: ['secret'] }, 'deny'],
    ['groups', { groups: ['group:secret'] }, 'deny'],
    ['taint', { tainted: true }, 'deny'],
    ['caller', { caller: 'script' }, 'deny'],
  ])('get a new answer when its %s changed', (_, change, effect) => {
    const list: Rule[] = [
      { deny: 'secret' },
      { deny: 'group:secret' },
      { deny: '*', when: { tainted: true } },
      { deny: '*', when: { caller: 'script' } },
    ]
    const policy = compilePolicy(owner(...list))
    expect(decide(policy, pure).effect).toBe('allow')
    expect(decide(policy, { ...pure, ...change }).effect).toBe(effect)
  })

  it('are remembered for a thousand tools, of which the oldest leaves first', () => {
    const policy = compilePolicy(owner({ ask: 'x' }))
    const ask = (index: number) => decide(policy, { ...pure, tool: `t${index}`, names: [`t${index}`] })
    const answers = Array.from({ length: 1_000 }, (_, index) => ask(index))
    expect(ask(0)).toBe(answers[0])
    ask(1_000)
    expect(ask(1)).toBe(answers[1])
    expect(ask(0)).not.toBe(answers[0])
  })

  it('stay right over more tools than are remembered', () => {
    const policy = compilePolicy(owner({ deny: 't7' }))
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 1_500; i++) {
        const answer = decide(policy, { ...pure, tool: `t${i}`, names: [`t${i}`] })
        if (answer.effect !== (i === 7 ? 'deny' : 'allow')) expect.fail(`t${i}: ${answer.effect}`)
      }
    }
  })

  it('about one target get the same answer object, until another target is asked about', () => {
    const policy = compilePolicy(owner({ deny: 'read:fs', on: '/srv/secret/**' }, { allow: 'read:fs' }))
    const about = (value: string, change: Partial<PolicyQuestion> = {}) => {
      const targets = [{ capability: 'read:fs' as const, value }]
      return decide(policy, { ...pure, capabilities: ['read:fs'], targets, ...change })
    }
    const first = about('/srv/a')
    expect(about('/srv/a')).toBe(first)
    expect(about('/srv/secret/a').effect).toBe('deny')
    expect(about('/srv/a').effect).toBe('allow')
    expect(about('/srv/a', { grants: [] }).effect).toBe('deny')
    expect(about('/srv/a', { capabilities: ['read:fs', 'exec'] }).effect).toBe('ask')
    const two = { targets: ['/srv/a', '/srv/secret/a'].map((value) => ({ capability: 'read:fs' as const, value })) }
    expect(about('/srv/a', two).effect).toBe('deny')
  })
})
