import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Rule, SourcedRule } from '../../../core/src/principal.ts'
import type { Capability } from '../../../core/src/tool.ts'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import { compilePolicy, type PolicyLayers } from '../compile-policy.ts'
import type { DemandDecision, PolicyQuestion } from '../question.ts'
import { decide } from './decide.ts'
import { offerCommandPatterns } from './judge-part.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })

const rules = (...list: Rule[]): SourcedRule[] =>
  list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/ws/repo' }))
const byDefault = (...list: Rule[]) => rules(...list).map((rule) => ({ ...rule, fallback: true }))

/** The policies that the cases name. */
const POLICIES: Readonly<Record<string, PolicyLayers>> = {
  none: {},
  some: { owner: rules({ allow: 'exec', on: ['ls *', 'cat *', 'git status', 'mytool *', 'node x.js'] }) },
  someBut: {
    owner: rules(
      {
        allow: 'exec',
        on: ['ls *', 'cat *', 'mytool *', 'node *', 'env *', 'git push *'],
        limit: { timeoutMs: 5, maxBytes: 9 },
      },
      { deny: 'exec', on: ['rm -rf *', 'sudo *'], reason: 'No.' },
      { ask: 'exec', on: 'git push *', limit: { timeoutMs: 9 } },
      { deny: 'read:fs', on: '**/.env' },
    ),
  },
  all: { owner: rules({ allow: 'exec' }) },
  allBut: { owner: rules({ allow: 'exec' }, { deny: 'exec', on: ['rm -rf *', 'curl *'] }) },
  allExcept: { owner: rules({ allow: 'exec', except: ['rm *', 'git push *'] }) },
  denyExcept: { owner: rules({ deny: 'exec', except: ['ls *', 'cat *'] }, { allow: 'exec' }) },
  always: {
    always: rules({ deny: 'exec', on: 'reboot *' }, { deny: 'read:fs', on: '~/.ssh/**' }),
    owner: rules({ allow: '*' }),
  },
  defaults: { defaults: rules({ allow: 'exec', on: 'ls *' }, { deny: 'network' }, { allow: 'read:fs' }) },
  narrowed: {
    owner: rules({ allow: 'read:fs', on: '/ws/repo/**' }),
    defaults: rules({ allow: 'read:fs' }, { allow: 'exec' }),
  },
  fallback: { owner: [...rules({ allow: 'exec', on: 'ls *' }), ...byDefault({ deny: '*' })] },
  tool: {
    owner: rules({ ask: 'exec' }, { allow: 'core/exec.run', on: 'ls *' }, { deny: 'group:runtime', on: 'rm *' }),
  },
  when: {
    owner: rules(
      { allow: 'exec' },
      { deny: 'exec', when: { tainted: true } },
      { ask: 'exec', when: { caller: 'script' } },
    ),
  },
  exceptOption: { owner: rules({ allow: 'exec', except: 'ls -R *' }) },
  denyOption: { owner: rules({ allow: 'exec' }, { deny: 'exec', on: 'ls -R *' }) },
  askTool: { owner: rules({ ask: 'core/exec.run' }) },
  token: { owner: [{ rule: { deny: 'exec' }, source: { file: 'token ci' }, base: '/' }] },
}

/**
 * A case is `policy [conditions] capability target` with the decision below: effect, layer and source, rule; reason; what
 * would change it; the part that decided; limits; and the patterns that an approval may be remembered with.
 */
const CASES = readFileSync(new URL('decisions.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split(/\n(?! )/)
  .map((block) => block.split('\n'))

describe('a decision', () => {
  it.each(CASES)('%s', (line, ...expected) => {
    expect(describeDecision(line)).toEqual(expected)
  })
})

function describeDecision(line: string): string[] {
  const [, name = '', conditions = '', capability = '', target] =
    /^(\w+)(?: \[(.*?)\])? (\S+)(?: (.*))?$/.exec(line.replaceAll('⏎', '\n')) ?? []
  const policy = compilePolicy({ home: '/home/ann', ...POLICIES[name]! })
  const question: PolicyQuestion = {
    tool: 'core/exec.run',
    names: ['core/exec.run', 'exec_run'],
    groups: ['group:runtime'],
    capabilities: [capability as Capability],
    targets: target === undefined ? [] : [{ capability: capability as Capability, value: target }],
    caller: conditions.includes('script') ? 'script' : 'direct',
    tainted: conditions.includes('tainted'),
    isUnsandboxed: conditions.includes('unsandboxed'),
    grants: conditions.includes('granted') ? ['read:fs', 'network'] : undefined,
    readings: conditions.includes('unread')
      ? undefined
      : new Map([[target ?? '', readCommandLine(target ?? '', PLACE, AGREES)]]),
  }
  const offers =
    capability === 'exec' && target !== undefined ? offerCommandPatterns(policy, question, target) : undefined
  return [
    ...describeDemand(decide(policy, question).demands[0]!),
    ...(offers === undefined ? [] : [`  offers ${offers.join(', ')}`]),
  ].map((text) => text.replaceAll('\n', '⏎'))
}

function describeDemand({ effect, layer, source, rule, reason, fix, part, constraints }: DemandDecision): string[] {
  return [
    `  ${effect} ${layer} ${source}: ${rule}`,
    `  reason ${reason}`,
    `  fix ${fix.key ?? '-'} ${fix.hint}${fix.value === undefined ? '' : ` ${JSON.stringify(fix.value)}`}`,
    ...(part === undefined ? [] : [`  part ${part}`]),
    ...(Object.keys(constraints).length === 0 ? [] : [`  limits ${JSON.stringify(constraints)}`]),
  ]
}
