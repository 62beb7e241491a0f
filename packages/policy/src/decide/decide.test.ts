import { describe, expect, it } from 'vitest'
import type { Rule, SourcedRule } from '../../../core/src/principal.ts'
import type { Capability } from '../../../core/src/tool.ts'
import type { CommandReading } from '../../../shell/src/reading.ts'
import { compilePolicy, type PolicyLayers } from '../compile-policy.ts'
import type { Decision, PolicyQuestion } from '../question.ts'
import { decide } from './decide.ts'

const rules = (...list: Rule[]): SourcedRule[] =>
  list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/srv' }))

const question = (more: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  tool: 'core/fs.readText',
  names: ['core/fs.readText', 'read', 'read_file', 'core_fs_readText'],
  groups: ['group:fs'],
  capabilities: ['read:fs'],
  targets: [{ capability: 'read:fs', value: '/srv/notes/a.md' }],
  caller: 'direct',
  tainted: false,
  ...more,
})

const on = (capability: Capability, ...values: string[]): Partial<PolicyQuestion> => ({
  capabilities: [capability],
  targets: values.map((value) => ({ capability, value })),
})

/** A reading of one command with nothing doubtful about it. */
const plain = (...words: string[]): CommandReading => ({
  parts: [{ words, text: words.join(' '), through: [], paths: [], doubts: [] }],
  doubts: [],
})

const pure = question({
  tool: 'core/util.time.now',
  names: ['core/util.time.now'],
  groups: ['group:util'],
  capabilities: [],
  targets: [],
})

const ask = (layers: PolicyLayers, more?: Partial<PolicyQuestion>): Decision =>
  decide(compilePolicy({ home: '/home/ann', ...layers }), question(more))
const owner = (...list: Rule[]): PolicyLayers => ({ owner: rules(...list) })

describe('layers', () => {
  it('lets an always deny win over every allow of the owner and says that no rule helps', () => {
    const decision = ask(
      {
        always: rules({ deny: 'read:fs', on: '~/.ssh/**', reason: 'secrets' }),
        owner: rules({ allow: 'read', on: '~/.ssh/**' }),
      },
      on('read:fs', '/home/ann/.ssh/id'),
    )
    expect(decision).toMatchObject({ effect: 'deny', layer: 'always', reason: 'secrets', source: 'tool-hub.yaml:1' })
    expect(decision.rule).toBe('deny read:fs on ~/.ssh/** (tool-hub.yaml:1)')
    expect(decision.fix.hint).toContain('No rule can allow')
  })

  it('consults the defaults only for a demand that no rule of the owner matches', () => {
    const defaults = rules({ deny: 'exec' }, { allow: 'read:fs' })
    expect(ask({ defaults }, on('exec', 'ls'))).toMatchObject({ effect: 'deny', layer: 'defaults' })
    expect(ask({ defaults, ...owner({ ask: 'exec' }) }, on('exec', 'ls'))).toMatchObject({
      effect: 'ask',
      layer: 'owner',
    })
    expect(ask({ defaults, ...owner({ ask: 'exec', on: 'git *' }) }, on('exec', 'ls'))).toMatchObject({
      effect: 'deny',
      layer: 'defaults',
    })
    expect(ask({ defaults, ...owner({ ask: '*' }) })).toMatchObject({ effect: 'ask', layer: 'owner' })
  })

  it('uses a fallback rule of the owner after his others and before the defaults', () => {
    const fallback = rules({ deny: '*' }).map((rule) => ({ ...rule, fallback: true }))
    const layers = { owner: [...rules({ allow: 'read' }), ...fallback], defaults: rules({ allow: 'network' }) }
    expect(ask(layers).effect).toBe('allow')
    expect(ask(layers, { ...on('network', 'https://x.org/'), tool: 'get', names: ['get'] })).toMatchObject({
      effect: 'deny',
      layer: 'owner',
    })
    expect(decide(compilePolicy(layers), pure).rule).toBe('deny "*" by default (tool-hub.yaml:1)')
  })

  it('runs a pure tool and asks for a capability when no rule is about it', () => {
    expect(decide(compilePolicy({}), pure)).toMatchObject({
      effect: 'allow',
      layer: 'fallback',
      rule: 'default: a pure tool runs',
      source: 'built in',
    })
    expect(ask({})).toMatchObject({ effect: 'ask', layer: 'fallback', rule: 'default: a tool with capabilities asks' })
  })

  it('lists what skills request and never lets it decide', () => {
    const requests = [
      { skill: 'reader', wants: ['read:fs'], reason: 'to read your notes' },
      { skill: 'tidy', wants: ['group:fs'] },
      { skill: 'mailer', wants: ['network'] },
    ]
    expect(ask({ requests })).toMatchObject({
      effect: 'ask',
      requests: ['skill reader requests read:fs: to read your notes', 'skill tidy requests group:fs'],
    })
  })
})

describe('demands', () => {
  const download = question({
    tool: 'core/http.downloadFile',
    names: ['core/http.downloadFile'],
    groups: ['group:http'],
    capabilities: ['network', 'write:fs'],
    targets: [
      { capability: 'network', value: 'https://x.org/a' },
      { capability: 'write:fs', value: '/srv/a' },
    ],
  })
  const effects = (...list: Rule[]) =>
    decide(compilePolicy(owner(...list)), download).demands.map(({ effect }) => effect)

  it('need each their own allow', () => {
    expect(effects({ allow: 'network', on: 'https://x.org/**' })).toEqual(['allow', 'ask'])
    expect(effects({ allow: 'network' }, { allow: 'write:fs', on: './**' })).toEqual(['allow', 'allow'])
  })

  it('are all covered by a rule about the tool, its group or everything', () => {
    for (const allow of ['core/http.downloadFile', 'group:http', '*'])
      expect(effects({ allow })).toEqual(['allow', 'allow'])
  })

  it('let the strictest decide the call', () => {
    const decision = decide(compilePolicy(owner({ allow: 'network' }, { deny: 'write:fs', on: './a' })), download)
    expect(decision).toMatchObject({ effect: 'deny', rule: 'deny write:fs on ./a (tool-hub.yaml:2)' })
    expect(decide(compilePolicy(owner({ allow: 'network' })), download).effect).toBe('ask')
  })

  it('judge every target of a capability', () => {
    const move = on('read:fs', '/srv/a', '/etc/b')
    expect(ask(owner({ allow: 'read:fs', on: './**' }), move).demands.map(({ effect }) => effect)).toEqual([
      'allow',
      'ask',
    ])
  })

  it('include a target whose capability the tool did not declare', () => {
    expect(
      ask(owner({ deny: 'network' }, { allow: 'read:fs' }), { targets: on('network', 'https://x.org/').targets! })
        .effect,
    ).toBe('deny')
  })

  it('without a target never match a rule with on', () => {
    const bare = { targets: [] }
    expect(ask(owner({ allow: 'read:fs', on: '/**' }), bare).effect).toBe('ask')
    expect(ask(owner({ deny: 'read:fs', on: '/**' }, { allow: 'read:fs' }), bare).effect).toBe('allow')
  })

  it('without a target fall under a deny with exceptions, and not under an allow with exceptions', () => {
    expect(ask(owner({ deny: 'read', except: './**' }, { allow: 'read' }), { targets: [] }).effect).toBe('deny')
    expect(ask(owner({ allow: 'read', except: '/etc/**' }), { targets: [] }).effect).toBe('ask')
  })
})

describe('conditions', () => {
  it('compare taint and caller', () => {
    const layers = owner(
      { allow: 'read:fs' },
      { ask: 'read', when: { tainted: true } },
      { deny: 'read', when: { caller: 'script' } },
    )
    expect(ask(layers).effect).toBe('allow')
    expect(ask(layers, { tainted: true })).toMatchObject({
      effect: 'ask',
      rule: 'ask read when tainted (tool-hub.yaml:2)',
    })
    expect(ask(layers, { caller: 'script' }).effect).toBe('deny')
  })
})

describe('grants of a call', () => {
  it('deny a capability that is not among them, by name', () => {
    const decision = ask(owner({ allow: '*' }), { grants: ['network'] })
    expect(decision).toMatchObject({ effect: 'deny', layer: 'grants', fix: { key: 'grants', value: 'read:fs' } })
    expect(decision.reason).toContain('needs read:fs; this call was granted network')
    expect(ask(owner({ allow: '*' }), { grants: [] }).effect).toBe('deny')
  })

  it('permit nothing by themselves', () => {
    expect(ask(owner({ deny: 'read:fs' }), { grants: ['read:fs'] }).effect).toBe('deny')
    expect(ask({}, { grants: ['read:fs'] }).effect).toBe('ask')
  })

  it('do not touch pure tools', () => {
    expect(decide(compilePolicy({}), { ...pure, grants: [] }).effect).toBe('allow')
  })
})

describe('subjects', () => {
  const secret = { tool: 'Vault.read', names: ['Vault.read', 'Vault_read', 'peek'], groups: ['group:secret'] }

  it.each(['vault.read', 'VAULT_READ', ' Vault.read ', 'Peek', 'group:Secret', 'GROUP:secret', ' Read:FS', '*'])(
    'deny and ask of %j hold whatever its case and the blanks around it',
    (subject) => {
      expect(ask(owner({ deny: subject }, { allow: '*' }), secret).effect).toBe('deny')
      expect(ask(owner({ ask: subject }), secret)).toMatchObject({ effect: 'ask', layer: 'owner' })
    },
  )

  it('an allow names one tool by its exact name, so that no other can call itself nearly so', () => {
    for (const allow of ['Vault.read', ' peek ', 'group:Secret'])
      expect(ask(owner({ allow }), secret).effect).toBe('allow')
    for (const allow of ['vault.read', 'PEEK', 'READ:FS']) expect(ask(owner({ allow }), secret).effect).toBe('ask')
  })

  it('a word that is a capability but for its case restricts the capability and the tool of this name', () => {
    const memory = { tool: 'Memory', names: ['Memory'], groups: ['group:memory'] }
    expect(ask(owner({ ask: 'Memory' }, { allow: 'read:fs' }), memory).effect).toBe('ask')
    expect(ask(owner({ ask: 'Memory' }, { allow: '*' }), on('memory', 'team')).effect).toBe('ask')
  })
})

describe('a target that is too long to compare', () => {
  it.each<[Capability, string, string]>([
    ['read:fs', '/srv/', '4096'],
    ['network', 'https://x.org/', '8192'],
    ['exec', 'ls ', '65536'],
    ['memory', 'team/', '65536'],
  ])('is denied under %s, with the numbers', (capability, start, limit) => {
    const value = start.padEnd(Number(limit) + 1, 'x')
    expect(ask(owner({ allow: '*' }), on(capability, value))).toMatchObject({
      effect: 'deny',
      source: 'built in',
      reason: expect.stringContaining(`${value.length} characters, the limit is ${limit}`),
    })
    const [longest, readings] = [value.slice(0, -1), new Map([[value.slice(0, -1), plain(start.trim())]])]
    expect(ask(owner({ allow: '*' }), { ...on(capability, longest), readings }).effect).toBe('allow')
  })
})

describe('names from models', () => {
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'a tool called %s is a tool like any other',
    (name) => {
      const named = { tool: name, names: [name], groups: [`group:${name}`] }
      expect(ask(owner({ deny: name }), named).effect).toBe('deny')
      expect(ask(owner({ allow: 'read:fs' }), named).effect).toBe('allow')
    },
  )

  it('a tool that is called like a capability does not slip past its deny, nor profit from its allow', () => {
    const named = { tool: 'exec', names: ['exec'], groups: [] }
    expect(ask(owner({ deny: 'exec' }, { allow: 'read:fs' }), named).effect).toBe('deny')
    expect(ask(owner({ allow: 'exec' }), named).effect).toBe('ask')
  })
})
