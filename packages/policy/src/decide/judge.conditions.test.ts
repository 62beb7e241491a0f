import { describe, expect, it } from 'vitest'
import type { Rule, SourcedRule } from '../../../core/src/principal.ts'
import type { Capability } from '../../../core/src/tool.ts'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import { compilePolicy, type PolicyLayers } from '../compile-policy.ts'
import { explainDecision } from '../describe.ts'
import type { PolicyQuestion } from '../question.ts'
import { decide } from './decide.ts'
import { patternRule } from './judge-part.ts'

const rules = (...list: Rule[]): SourcedRule[] =>
  list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/srv' }))

const QUESTION: PolicyQuestion = {
  tool: 'notes.save',
  names: ['notes.save', 'notes_save'],
  groups: ['group:notes'],
  capabilities: ['write:fs'],
  targets: [{ capability: 'write:fs', value: '/srv/a' }],
  caller: 'direct',
  tainted: false,
}
const judge = (layers: PolicyLayers, more: Partial<PolicyQuestion> = {}) =>
  decide(compilePolicy(layers), { ...QUESTION, ...more })
const PURE = { capabilities: [], targets: [] }

describe('a rule about some capabilities', () => {
  const layers = {
    owner: rules({ deny: 'notes.save' }).map((rule) => ({ ...rule, about: ['exec', 'write:fs'] as Capability[] })),
  }

  it.each<[string, Partial<PolicyQuestion>, string]>([
    ['one of them', {}, 'deny'],
    ['another', { capabilities: ['read:fs'], targets: [] }, 'ask'],
    ['none', PURE, 'allow'],
  ])('decides for %s: %j is %s', (_, more, effect) => {
    expect(judge(layers, more).effect).toBe(effect)
  })
})

it('a rule is found by every name of the tool, whatever their case if it restricts', () => {
  const effect = (rule: Rule, more?: Partial<PolicyQuestion>) => judge({ owner: rules(rule) }, more).effect
  expect(effect({ deny: 'NOTES_save' })).toBe('deny')
  expect(effect({ allow: 'NOTES_save' })).toBe('ask')
  expect(effect({ allow: 'notes_save' })).toBe('allow')
  expect(effect({ allow: 'notes.save' }, { names: ['other'] })).toBe('allow')
  expect(effect({ deny: 'Notes.Save' }, { names: ['other'] })).toBe('deny')
  expect(effect({ deny: 'OTHER' }, { names: ['other'] })).toBe('deny')
  expect(effect({ deny: 'group:Notes' })).toBe('deny')
  expect(effect({ deny: 'exec' }, { names: ['exec'], ...PURE })).toBe('deny')
  expect(effect({ allow: 'exec' }, { names: ['exec'] })).toBe('ask')
  expect(effect({ ask: 'exec' }, { names: ['exec'], ...PURE })).toBe('allow')
  expect(effect({ ask: 'Exec' }, { names: ['exec'], ...PURE })).toBe('ask')
})

it.each<[string, SourcedRule['source'][], string]>([
  [
    'the first file',
    [
      { file: 'b.yaml', line: 1 },
      { file: 'a.yaml', line: 9 },
    ],
    'a.yaml:9',
  ],
  [
    'the first line',
    [
      { file: 'a.yaml', line: 10 },
      { file: 'a.yaml', line: 9 },
    ],
    'a.yaml:9',
  ],
  ['the rule without a line', [{ file: 'a.yaml', line: 1 }, { file: 'a.yaml' }], 'a.yaml'],
])('of two that say the same, %s is named, in whatever order they arrive', (_, sources, source) => {
  const list = sources.map((each) => ({ rule: { deny: '*' }, source: each, base: '/srv' }))
  expect(judge({ owner: list }).source).toBe(source)
  expect(judge({ owner: list.toReversed() }).source).toBe(source)
  const asks = list.map((each) => ({ ...each, rule: { ask: '*' } }))
  expect(judge({ owner: asks }).source).toBe(source)
})

it('of two with one source, the order of arrival changes nothing', () => {
  const list = ['No.', 'Never.'].map((reason) => ({
    rule: { deny: '*', reason },
    source: { file: 'code' },
    base: '/srv',
  }))
  expect(judge({ owner: list }).reason).toBe('Never.')
  expect(judge({ owner: list.toReversed() }).reason).toBe('Never.')
})

it('a deny of the runtime is named before one of the owner', () => {
  const layers = { always: rules({ deny: '*', reason: 'always' }), owner: rules({ deny: '*', reason: 'owner' }) }
  expect(judge(layers).reason).toBe('always')
})

describe('a policy within another', () => {
  const within = (own: Rule[], outer: Rule[]) =>
    decide({ ...compilePolicy({ owner: rules(...own) }), within: compilePolicy({ owner: rules(...outer) }) }, QUESTION)

  it('decides where it is stricter, and only there', () => {
    expect(within([{ allow: '*', reason: 'own' }], [{ ask: '*', reason: 'outer' }])).toMatchObject({
      effect: 'ask',
      reason: 'outer',
    })
    expect(within([{ deny: '*', reason: 'own' }], [{ ask: '*', reason: 'outer' }])).toMatchObject({
      effect: 'deny',
      reason: 'own',
    })
    expect(within([{ ask: '*', reason: 'own' }], [{ ask: '*', reason: 'outer' }])).toMatchObject({
      effect: 'ask',
      reason: 'own',
    })
  })

  it('adds its limits', () => {
    const own = { timeoutMs: 5, maxBytes: 9, retries: 1 }
    const outer = { timeoutMs: 9, maxBytes: 5, maxResults: 3 }
    expect(within([{ allow: '*', limit: own }], [{ allow: '*', limit: outer }]).constraints).toEqual({
      timeoutMs: 5,
      maxBytes: 5,
      maxResults: 3,
      retries: 1,
    })
  })
})

it.each<[Capability, number]>([
  ['read:fs', 4_096],
  ['write:fs', 4_096],
  ['danger:destructive', 4_096],
  ['network', 8_192],
  ['send', 8_192],
  ['exec', 65_536],
  ['memory', 65_536],
  ['session', 65_536],
  ['message', 65_536],
  ['schedule', 65_536],
  ['browser', 65_536],
  ['canvas', 65_536],
  ['remote', 65_536],
])('a target of %s has at most %i characters', (capability, limit) => {
  const ask = (length: number) =>
    judge({}, { capabilities: [capability], targets: [{ capability, value: 'a'.repeat(length) }] })
  expect(ask(limit).effect).toBe('ask')
  expect(ask(limit + 1)).toMatchObject({
    effect: 'deny',
    layer: 'fallback',
    source: 'built in',
    rule: 'default: a target is short enough to be compared with rules',
    reason: `The target of ${capability} has ${limit + 1} characters, the limit is ${limit}.`,
    fix: { hint: `Name a target of at most ${limit} characters.` },
    constraints: {},
  })
})

it('an answer is remembered for the same caller and taint only', () => {
  const policy = compilePolicy({
    owner: rules({ deny: '*', when: { tainted: true, caller: 'direct' } }, { ask: '*', when: { caller: 'script' } }),
  })
  const ask = (caller: PolicyQuestion['caller'], tainted: boolean) =>
    decide(policy, { ...QUESTION, ...PURE, caller, tainted }).effect
  for (let round = 0; round < 2; round++) {
    expect([ask('direct', false), ask('script', false)]).toEqual(['allow', 'ask'])
    expect([ask('direct', true), ask('script', true)]).toEqual(['deny', 'ask'])
  }
})

it('an answer for a sandbox is not remembered without one', () => {
  const policy = compilePolicy({ owner: rules({ allow: 'exec' }) })
  const question: PolicyQuestion = { ...QUESTION, capabilities: ['exec'], targets: [] }
  expect(decide(policy, question).effect).toBe('allow')
  expect(decide(policy, { ...question, isUnsandboxed: true }).effect).toBe('ask')
})

describe('a decision about a command', () => {
  const run = (command: string, ...list: Rule[]) =>
    judge(
      { owner: rules(...list) },
      {
        capabilities: ['exec'],
        targets: [{ capability: 'exec', value: command }],
        readings: new Map([
          [command, readCommandLine(command, { cwd: '/srv', roots: ['/srv'] }, () => ({ hasError: false, names: [] }))],
        ]),
      },
    )

  it('shows at most 120 characters of the part that decided', () => {
    const long = `x${'y'.repeat(119)}`
    expect(run(`ls; ${long}`, { allow: 'exec', on: 'ls' }).part).toBe(`\`${long}\``)
    expect(run(`ls; ${long}z`, { allow: 'exec', on: 'ls' }).part).toBe(`\`${long}…\``)
  })

  it('names the first rule that keeps a file', () => {
    const keep: Rule = { deny: 'read:fs', on: '**/.env' }
    expect(run('cat .env', { allow: 'exec', on: 'cat *' }, keep, keep).reason).toContain(
      'it uses /srv/.env, which tools may not read: deny read:fs on **/.env (tool-hub.yaml:2). The rule allow exec on cat *',
    )
    expect(run('cat .env', { allow: 'exec', on: 'cat *' }, { ask: 'read:fs', on: '**/.env' }).effect).toBe('allow')
    expect(run('cat .env', { allow: 'exec', on: 'cat *' }, { deny: 'notes.save', on: '/srv/.env' }).effect).toBe('ask')
  })
})

it('a decision contains its limits', () => {
  const limit = { timeoutMs: 5, maxBytes: 6, maxResults: 7, retries: 8 }
  const policy = compilePolicy({ owner: rules({ allow: 'notes.save', limit }) })
  const question = { ...QUESTION, ...PURE }
  expect(explainDecision(question, decide(policy, question))).toBe(
    [
      'allow  notes.save',
      '  allow  no capability',
      '    rule: allow notes.save (tool-hub.yaml:1)',
      '    source: tool-hub.yaml:1 (owner)',
      '    reason: Allowed by allow notes.save (tool-hub.yaml:1).',
      '  limits: 5 ms, 6 bytes, 7 results',
    ].join('\n'),
  )
})

it('a remembered pattern is about one tool, or about a server', () => {
  expect(patternRule('core/fs.writeText', { on: ['/a/**'] })).toEqual({
    rule: { allow: 'core/fs.writeText', on: ['/a/**'] },
    source: { file: 'grant' },
    base: '/',
    about: ['read:fs', 'write:fs', 'danger:destructive', 'network'],
  })
  expect(patternRule('core/exec.run', { on: ['= ls'] })).toMatchObject({ about: ['exec'] })
  expect(patternRule('x', { on: ['mcp:a/*', 'mcp:b/*'] })).toMatchObject({
    rule: { allow: 'remote' },
    about: ['remote'],
  })
  expect(patternRule('x', { on: ['mcp:a/*', '/b'] })).toMatchObject({ rule: { allow: 'x' } })
})
