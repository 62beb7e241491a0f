import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../../core/src/plugin.ts'
import type { Rule, SourcedRule } from '../../../core/src/principal.ts'
import { CAPABILITIES, type Capability } from '../../../core/src/tool.ts'
import type { CommandPart } from '../../../shell/src/reading.ts'
import { compilePolicy, type PolicyLayers } from '../compile-policy.ts'
import { readPatternPart } from '../match/match-command.ts'
import { compilePattern, readTarget } from '../match/match-target.ts'
import { TARGET_KINDS } from '../match/target.ts'
import type { PolicyQuestion } from '../question.ts'
import { allowFiles, decide } from './decide.ts'

const HOME = '/home/ann'
const BASE = '/srv'
const TOOLS = ['core/fs.readText', 'notes.save', 'exec']
const STRICTNESS = { allow: 0, ask: 1, deny: 2 }

const PATTERNS = {
  path: [
    '/srv/**',
    './notes',
    './notes/*',
    '~/.ssh/**',
    '**/*.pem',
    '**/.env',
    '/srv/{a,b}/**',
    '**/notes/**',
    '/',
    'a?.md',
    '**',
  ],
  url: [
    'https://x.org/**',
    'https://x.org/a/*',
    '*.x.org',
    'x.org',
    'x.org:8443',
    '*',
    'https://x.org/a/b?q=*',
    '*://x.org/a/**',
  ],
  command: ['git *', 'git status', 'rm -rf *', '*', 'ls'],
  text: ['team', 'team/*', 'team/**', './team/**', '**', 'te[ab]m'],
}
/** Patterns that distinguish files of one folder. */
const IN_FOLDERS = [
  ...['/srv/notes/.env.*', '/srv/a*.md', '**/a*?b', '**b', '/srv/notes/**.md', '**/{x/a,b}*.md', 'notes/a[.]md'],
  ...['/srv/notes/a.md', '/srv/notes/plain', '**/x.*', '**/*.pem', '**/.env', '**/notes', '/srv/**', './notes', '*'],
]
const TARGETS = {
  path: [
    '/srv/notes/a.md',
    '/srv/notes',
    '/home/ann/.ssh/id',
    '/srv/a/key.pem',
    '/.env',
    '/etc/passwd',
    '/srv/ab.md',
    '/',
  ],
  url: [
    'https://x.org/a/b',
    'https://api.x.org/',
    'http://x.org:8443/a/b?q=1',
    'https://evilx.org/',
    'https://x.org/a/b?q=1',
    'junk',
  ],
  command: ['git status', 'git push', 'rm -rf /', 'ls; rm -rf /', 'ls', '', 'git status && ls'],
  text: ['team', 'team/a', 'other', 'te[ab]m'],
}
/** What each command is, with nothing doubtful about it; decide-command.test.ts shows what doubts do. */
const READINGS = new Map(
  TARGETS.command.map((value) => [value, { parts: value.split(/;|&&/).map(asPart), doubts: [] }]),
)

function asPart(text: string): CommandPart {
  return { words: text.split(' ').filter(Boolean), text, through: [], paths: [], doubts: [] }
}

const ALL_PATTERNS = Object.values(PATTERNS).flat()

const when = fc.record({ tainted: fc.boolean(), caller: fc.constantFrom('direct', 'script') }, { requiredKeys: [] })
const limit = fc.record({ maxBytes: fc.nat(5), timeoutMs: fc.nat(5) }, { requiredKeys: [] })
const subject = fc.oneof(
  fc.constantFrom('*', 'group:fs', 'group:notes', 'read', ...TOOLS),
  fc.constantFrom(' Group:FS', 'READ', 'Notes.Save ', 'Exec', ' exec'),
  fc.constantFrom(...CAPABILITIES),
)
const effect = fc.constantFrom<Effect>('allow', 'ask', 'deny')

function ruleOf(effects: fc.Arbitrary<Effect>): fc.Arbitrary<SourcedRule> {
  return subject.chain((name) => {
    const own = CAPABILITIES.find((capability) => capability === name.trim().toLowerCase())
    const patterns = fc.array(fc.constantFrom(...(own ? PATTERNS[TARGET_KINDS[own]] : ALL_PATTERNS)), {
      minLength: 1,
      maxLength: 3,
    })
    const fields = fc.record({ on: patterns, except: patterns, when, limit }, { requiredKeys: [] })
    const place = fc.record({
      line: fc.nat(3),
      fallback: fc.boolean(),
      about: fc.option(fc.subarray([...CAPABILITIES], { minLength: 1 }), { nil: undefined }),
    })
    return fc.tuple(effects, fields, place).map(([verb, rest, { line, fallback, about }]) => ({
      rule: { [verb]: name, ...rest } as unknown as Rule,
      source: { file: 'f', line },
      base: BASE,
      fallback: fallback && line === 0,
      // A pattern must fit a kind it can meet, so `about` is drawn only where any kind may come.
      about: own || rest.on || rest.except ? undefined : about,
    }))
  })
}

function sourced(rule: object): SourcedRule {
  return { rule: rule as unknown as Rule, source: { file: 'f' }, base: BASE }
}

const rules = fc.array(ruleOf(effect), { maxLength: 12 })
const denials = fc.array(ruleOf(fc.constant<Effect>('deny')), { maxLength: 3 })
const layers: fc.Arbitrary<PolicyLayers> = fc.record({
  always: denials,
  owner: rules,
  defaults: rules,
  home: fc.constant(HOME),
})

const target = fc
  .constantFrom<Capability>(...CAPABILITIES)
  .chain((capability) => fc.constantFrom(...TARGETS[TARGET_KINDS[capability]]).map((value) => ({ capability, value })))
const question: fc.Arbitrary<PolicyQuestion> = fc.record(
  {
    tool: fc.constantFrom(...TOOLS),
    names: fc.subarray(['read', ...TOOLS]),
    groups: fc.subarray(['group:fs', 'group:notes']),
    capabilities: fc.subarray([...CAPABILITIES]),
    targets: fc.array(target, { maxLength: 3 }),
    caller: fc.constantFrom('direct', 'script'),
    tainted: fc.boolean(),
    grants: fc.subarray([...CAPABILITIES]),
    readings: fc.constant(READINGS),
  },
  { requiredKeys: ['tool', 'names', 'groups', 'capabilities', 'targets', 'caller', 'tainted', 'readings'] },
)

describe('decide, for any rules and any call', () => {
  it('equals the rules read one by one', () => {
    fc.assert(
      fc.property(layers, question, (given, asked) => {
        expect(decide(compilePolicy(given), asked).effect).toBe(naive(given, asked))
      }),
      { numRuns: 600 },
    )
  })

  it('allows no file of a folder by a shared decision that is not allowed alone', () => {
    const folders = fc.constantFrom('/srv/notes', '/srv/notes', '/srv', '/', '/srv/a.md', '/x/.env', '/srv/x/notes')
    const name = fc.constantFrom(
      ...['plain', 'a.md', 'ab', 'a\nb', 'ab.md', '.env', '.env.x', 'key.pem', 'notes', 'b', 'é', '..a', 'x.md'],
    )
    const patterns = fc.array(fc.constantFrom(...IN_FOLDERS), { minLength: 1, maxLength: 2 })
    const fields = fc.oneof(
      { weight: 4, arbitrary: fc.record({ on: patterns }) },
      { weight: 1, arbitrary: fc.record({ on: patterns, except: patterns }, { requiredKeys: [] }) },
    )
    const rule = fc
      .tuple(effect, fc.constantFrom('*', 'read:fs'), fields)
      .map(([verb, about, rest]) => sourced({ [verb]: about, ...rest }))
    const fileRules = fc.array(rule, { maxLength: 3 })
    const files = fc.array(fc.tuple(folders, name), { minLength: 2, maxLength: 12 })
    const outerRules = fc.option(fileRules, { freq: 3 })
    fc.assert(
      fc.property(fileRules, outerRules, question, files, (owner, outer, asked, given) => {
        const within = outer ? compilePolicy({ owner: outer, home: HOME }) : undefined
        const policy = { ...compilePolicy({ owner, home: HOME }), within }
        const allowIn = allowFiles(policy, asked, 'read:fs')
        for (const [folder, file] of given.toSorted()) {
          const targets = [{ capability: 'read:fs', value: `${folder === '/' ? '' : folder}/${file}` }] as const
          const alone = decide(policy, { ...asked, capabilities: ['read:fs'], targets })
          if (allowIn(folder)(file)) expect(alone.effect, targets[0].value).toBe('allow')
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('shares the decision about files of ordinary names', () => {
    const owner = [
      { allow: 'read:fs', on: './**' },
      { deny: 'read:fs', on: ['**/*.pem', '**/.env.*', './notes/a.md'] },
    ]
    const policy = compilePolicy({ owner: owner.map(sourced), home: HOME })
    const asked = { tool: 't', names: ['t'], groups: [], capabilities: [], targets: [], tainted: false } as const
    const allowIn = allowFiles(policy, { ...asked, caller: 'direct' }, 'read:fs')
    const files = ['b.md', 'a.md', 'a.pem', '.env.x']
    expect(files.map(allowIn('/srv/notes'))).toEqual([true, false, false, false])
    expect(files.map(allowIn('/srv'))).toEqual([true, true, false, false])
    expect(files.map(allowIn('/etc'))).toEqual([false, false, false, false])
  })

  it('never gets looser by one more deny', () => {
    fc.assert(
      fc.property(
        layers,
        ruleOf(fc.constant<Effect>('deny')),
        fc.constantFrom('always', 'owner'),
        question,
        (given, deny, layer, asked) => {
          const stricter = { ...given, [layer]: [...(given[layer] ?? []), { ...deny, fallback: false }] }
          const [before, after] = [given, stricter].map((all) => STRICTNESS[decide(compilePolicy(all), asked).effect])
          expect(after).toBeGreaterThanOrEqual(before!)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('does not depend on the order of the rules, down to the rule it names', () => {
    const shuffled = layers.chain((given) =>
      fc.record({
        given: fc.constant(given),
        owner: fc.shuffledSubarray([...given.owner!], { minLength: given.owner!.length }),
        defaults: fc.shuffledSubarray([...given.defaults!], { minLength: given.defaults!.length }),
      }),
    )
    fc.assert(
      fc.property(shuffled, question, ({ given, ...order }, asked) => {
        expect(decide(compilePolicy({ ...given, ...order }), asked)).toEqual(decide(compilePolicy(given), asked))
      }),
      { numRuns: 200 },
    )
  })

  it('suggests a rule that, once written, allows the demand', () => {
    fc.assert(
      fc.property(layers, question, (given, asked) => {
        for (const demand of decide(compilePolicy(given), asked).demands) {
          if (demand.fix.key !== 'policy' || demand.fix.value === undefined) continue
          const written = { rule: demand.fix.value as Rule, source: { file: 'new' }, base: '/elsewhere' }
          const after = decide(compilePolicy({ ...given, owner: [...given.owner!, written] }), asked)
          const same = after.demands.find(
            ({ capability, target: value }) => capability === demand.capability && value === demand.target,
          )
          expect(same?.effect, JSON.stringify(demand)).toBe('allow')
        }
      }),
      { numRuns: 200 },
    )
  })
})

interface NaiveDemand {
  readonly capability?: Capability
  readonly value?: string
  /** Of a command, one for each. */
  readonly part?: CommandPart
}

/** The semantics as a list of sentences: no index, no memory. */
function naive(given: PolicyLayers, asked: PolicyQuestion): Effect {
  const demands: NaiveDemand[] = [
    ...asked.targets.flatMap((target) =>
      target.capability === 'exec' ? READINGS.get(target.value)!.parts.map((part) => ({ ...target, part })) : [target],
    ),
    ...asked.capabilities
      .filter((own) => !asked.targets.some(({ capability }) => capability === own))
      .map((capability) => ({ capability })),
  ]
  const effects = (demands.length > 0 ? demands : [{}]).map((demand) => naiveDemand(given, asked, demand))
  return effects.includes('deny') ? 'deny' : effects.includes('ask') ? 'ask' : 'allow'
}

function naiveDemand({ always, owner, defaults }: PolicyLayers, asked: PolicyQuestion, demand: NaiveDemand): Effect {
  if (demand.capability && asked.grants && !asked.grants.includes(demand.capability)) return 'deny'
  const levels = [
    [...always!, ...owner!.filter(({ fallback }) => !fallback)],
    owner!.filter(({ fallback }) => fallback),
    defaults!.filter(({ fallback }) => !fallback),
    defaults!.filter(({ fallback }) => fallback),
  ]
  for (const [index, level] of levels.entries()) {
    const matching = level.filter((sourced) => naiveMatch(sourced, asked, demand)).map(({ rule }) => rule)
    if (matching.length === 0) continue
    if (matching.some(({ deny }) => deny !== undefined)) return 'deny'
    const top = Math.max(...matching.map(rank))
    if (matching.some((rule) => rank(rule) === top && rule.ask !== undefined)) return 'ask'
    return index >= 2 && owner!.some((sourced) => naiveNamesOthers(sourced, asked, demand)) ? 'ask' : 'allow'
  }
  return demand.capability === undefined ? 'allow' : 'ask'
}

/** The owner allows the subject some targets of this kind by name, so a default does not allow the others. */
function naiveNamesOthers(
  { rule }: SourcedRule,
  asked: PolicyQuestion,
  { capability, value }: { capability?: Capability; value?: string },
): boolean {
  const name = naiveSubject(rule)
  if (rule.allow === undefined || rule.on === undefined || capability === undefined || value === undefined) return false
  const isCapability = CAPABILITIES.some((known) => known === name)
  const isNamed = [asked.tool, ...asked.names, ...asked.groups].includes(name) && !isCapability
  if (!(name === '*' || name === capability || isNamed)) return false
  return [rule.on]
    .flat()
    .some((text) => !('broken' in compilePattern(TARGET_KINDS[capability], text, { base: BASE, home: HOME })))
}

function naiveSubject(rule: Rule): string {
  const written = (rule.allow ?? rule.ask ?? rule.deny ?? '').trim()
  return rule.allow === undefined || /^group:/i.test(written) ? written.toLowerCase() : written
}

function rank(rule: Rule): number {
  const name = naiveSubject(rule)
  const level =
    name === '*' ? 0 : name.startsWith('group:') || CAPABILITIES.some((capability) => capability === name) ? 1 : 2
  return (rule.on ? 3 : 0) + level
}

function naiveMatch(
  { rule, about }: SourcedRule,
  asked: PolicyQuestion,
  { capability, value, part }: NaiveDemand,
): boolean {
  const name = naiveSubject(rule)
  const isCapability = CAPABILITIES.some((known) => known === name)
  const isSpeltOtherwise = (rule.ask ?? name).trim() !== name
  const isTool =
    [asked.tool, ...asked.names].some(
      (own) => own === name || (rule.allow === undefined && own.toLowerCase() === name),
    ) &&
    (!isCapability || rule.deny !== undefined || isSpeltOtherwise)
  if (!(name === '*' || name === capability || asked.groups.includes(name) || isTool)) return false
  if (rule.when?.tainted !== undefined && rule.when.tainted !== asked.tainted) return false
  if (rule.when?.caller !== undefined && rule.when.caller !== asked.caller) return false
  if (about && !(capability && about.includes(capability))) return false
  const hits = (patterns: string | readonly string[], broadly: boolean) =>
    [patterns].flat().some((text) => {
      if (isCapability && TARGET_KINDS[name as Capability] !== TARGET_KINDS[capability!]) return false
      const pattern = compilePattern(TARGET_KINDS[capability!], text, { base: BASE, home: HOME })
      const kind = TARGET_KINDS[capability!]
      const target = kind === 'command' ? readPatternPart(part!) : readTarget(kind, value!)
      return !('broken' in pattern) && pattern.matches(target, broadly)
    })
  if (rule.on && (value === undefined || !hits(rule.on, rule.allow === undefined))) return false
  if (!rule.except) return true
  return value === undefined ? rule.allow === undefined : !hits(rule.except, rule.allow !== undefined)
}
