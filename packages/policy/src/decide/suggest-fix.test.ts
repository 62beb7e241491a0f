import { expect, it } from 'vitest'
import type { Rule } from '../../../core/src/principal.ts'
import type { Capability } from '../../../core/src/tool.ts'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import { compilePolicy, type PolicyLayers } from '../compile-policy.ts'
import { decide } from './decide.ts'

const PLACE = { cwd: '/srv', roots: ['/srv'] }
const AGREES = () => ({ hasError: false, names: [] })

const at = (rule: Rule) => [{ rule, source: { file: 'tool-hub.yaml', line: 4 }, base: '/srv' }]

const ofToken = (rule: Rule) => [{ rule, source: { file: 'token ci' }, base: '/srv' }]

const cases: [string, PolicyLayers, Capability, string | undefined, { value?: Rule; hint: string }][] = [
  [
    'no rule',
    {},
    'write:fs',
    '/w/a',
    {
      value: { allow: 'write:fs', on: '/w/a' },
      hint: 'Add { allow: "write:fs", on: "/w/a" } to policy in tool-hub.yaml.',
    },
  ],
  [
    'a rule of a token',
    { owner: ofToken({ deny: 'exec' }) },
    'exec',
    undefined,
    { hint: 'Have the owner make a token without deny exec (token ci): tool-hub tokens add.' },
  ],
  [
    'a rule that says itself what helps',
    { owner: ofToken({ deny: 'exec' }).map((sourced) => ({ ...sourced, remedy: 'Ask the owner.' })) },
    'exec',
    undefined,
    { hint: 'Ask the owner.' },
  ],
  [
    'no target',
    {},
    'write:fs',
    undefined,
    { value: { allow: 'write:fs' }, hint: 'Add { allow: "write:fs" } to policy' },
  ],
  [
    'glob characters in a name',
    {},
    'write:fs',
    '/w/[a]*',
    { value: { allow: 'write:fs', on: '/w/\\[a\\]\\*' }, hint: 'Add' },
  ],
  [
    'a URL with a query',
    {},
    'network',
    'https://x.org/a?b=1',
    { value: { allow: 'network', on: 'https://x.org/a' }, hint: 'Add' },
  ],
  ['a plain command', {}, 'exec', 'git  status', { value: { allow: 'exec', on: 'git status' }, hint: 'Add' }],
  ['two commands', {}, 'exec', 'a x | b', { value: { allow: 'exec', on: ['a x', 'b'] }, hint: 'Add' }],
  [
    'two commands of which one is allowed',
    { owner: at({ allow: 'exec', on: 'a *' }) },
    'exec',
    'a x | b',
    { value: { allow: 'exec', on: 'b' }, hint: 'Add' },
  ],
  [
    'two commands of which one needs a rule about the tool',
    { owner: at({ ask: 'exec', on: 'b' }) },
    'exec',
    'a x | b',
    { value: { allow: 'x', on: ['a x', 'b'] }, hint: 'Add' },
  ],
  [
    'a hazard that the rule would spell out',
    {},
    'exec',
    'git add src',
    { value: { allow: 'exec', on: 'git add src' }, hint: 'Add' },
  ],
  [
    'a danger that the rule would permit',
    {},
    'exec',
    'npm install',
    {
      value: { allow: 'exec', on: 'npm install' },
      hint: 'It then needs no approval, and it installs packages, whose scripts can run code.',
    },
  ],
  [
    'a danger that is worth an approval each time',
    {},
    'exec',
    'rm -rf node_modules',
    {
      hint: 'Approve it when asked: it deletes files, and a rule that allows it would let it run without an approval.',
    },
  ],
  [
    'the same danger where commands are off',
    { defaults: at({ deny: 'exec' }) },
    'exec',
    'ls; rm -rf node_modules',
    {
      value: { ask: 'exec', on: ['ls', 'rm -rf node_modules'] },
      hint: 'Add { ask: "exec", on: ["ls","rm -rf node_modules"] } to policy in tool-hub.yaml, then approve it when asked: it deletes files.',
    },
  ],
  ...['node app.js', 'npm i', 'gcc a.c -o a.out', 'git add -A', 'sort a -o b'].map(
    (command): (typeof cases)[number] => [
      `an allow that does not cover ${command}`,
      { owner: at({ allow: 'exec', on: ['node *', 'npm *', 'git *', 'sort *'] }) },
      'exec',
      command,
      { value: { allow: 'exec', on: command }, hint: 'Add' },
    ],
  ),
  [
    'an allow of all but some, which does not cover a program in another language',
    { owner: [...at({ allow: 'exec' }), ...at({ deny: 'exec', on: 'rm -rf *' })] },
    'exec',
    'node app.js',
    { value: { allow: 'exec', on: 'node app.js' }, hint: 'Add' },
  ],
  [
    'an allow of the tool that does not cover it',
    { owner: at({ allow: 'x', on: 'node *' }) },
    'exec',
    'node app.js',
    { value: { allow: 'x', on: 'node app.js' }, hint: 'Add' },
  ],
  [
    'a file that no tool may read',
    { owner: [...at({ allow: 'exec', on: 'cat *' }), ...at({ deny: 'read:fs', on: '**/.env' })] },
    'exec',
    'cat .env',
    { hint: 'Approve it when asked' },
  ],
  [
    'a default that the rule would narrow for another part',
    { owner: at({ ask: 'exec', on: 'b' }), defaults: at({ allow: 'exec' }) },
    'exec',
    'a; b',
    { hint: 'Approve it when asked' },
  ],
  [
    'two parts that different rules deny',
    { owner: at({ deny: 'exec', on: 'b' }), defaults: at({ deny: 'exec' }) },
    'exec',
    'a; b',
    { hint: 'Run its commands one by one' },
  ],
  ['a script', { owner: at({ allow: 'exec', on: 'bash *' }) }, 'exec', 'bash x.sh', { hint: 'Approve it when asked' }],
  ['a command that writes', {}, 'exec', 'a > b', { hint: 'Approve it when asked' }],
  ['a command with a variable', {}, 'exec', 'a $b', { hint: 'Approve it when asked' }],
  ['a command with a blank in a word', {}, 'exec', 'a "b c"', { hint: 'Approve it when asked' }],
  ['a program by its path', {}, 'exec', './a', { hint: 'Approve it when asked' }],
  ['a line that does not parse', {}, 'exec', 'a "b', { hint: 'Approve it when asked' }],
  [
    'the same where it is off',
    { defaults: at({ deny: 'exec' }) },
    'exec',
    'a > b',
    { hint: 'Add { ask: "exec" } to policy' },
  ],
  [
    'a shipped deny',
    { defaults: at({ deny: 'exec' }) },
    'exec',
    'ls',
    { value: { allow: 'exec', on: 'ls' }, hint: 'Add' },
  ],
  [
    'an ask as specific as a capability',
    { owner: at({ ask: 'exec', on: 'ls' }) },
    'exec',
    'ls',
    { value: { allow: 'x', on: 'ls' }, hint: 'Add' },
  ],
  [
    'the most specific ask',
    { owner: at({ ask: 'x', on: 'ls' }) },
    'exec',
    'ls',
    { hint: 'Change ask x on ls (tool-hub.yaml:4) to allow' },
  ],
  [
    'a deny of the owner',
    { owner: at({ deny: 'exec' }) },
    'exec',
    'ls',
    { hint: 'Remove or narrow deny exec (tool-hub.yaml:4)' },
  ],
  ['an always deny', { always: at({ deny: 'exec' }) }, 'exec', 'ls', { hint: 'No rule can allow this' }],
  ['an allow', { owner: at({ allow: 'exec' }) }, 'exec', 'ls', { hint: 'Nothing to change' }],
]

it.each(cases)('after %s the fix says what to write where', (_, layers, capability, target, { value, hint }) => {
  const targets = target === undefined ? [] : [{ capability, value: target }]
  const question = {
    tool: 'x',
    names: ['x'],
    groups: [],
    capabilities: [capability],
    targets,
    caller: 'direct',
    tainted: false,
    readings: new Map([[target ?? '', readCommandLine(target ?? '', PLACE, AGREES)]]),
  } as const
  const { fix } = decide(compilePolicy(layers), question)
  expect(fix.value).toEqual(value)
  expect(fix.hint).toContain(hint)
  if (value === undefined) return
  const written = { ...layers, owner: [...(layers.owner ?? []), ...at(value)] }
  expect(decide(compilePolicy(written), question).effect).toBe(value.ask === undefined ? 'allow' : 'ask')
})

it('a fix names the place where the owner adds rules', () => {
  const hintOf = (layers: PolicyLayers, target: string) => {
    const readings = new Map([[target, readCommandLine(target, PLACE, AGREES)]])
    return decide(compilePolicy(layers), {
      tool: 'core/exec.run',
      names: ['core/exec.run'],
      groups: [],
      capabilities: ['exec'],
      targets: [{ capability: 'exec', value: target }],
      caller: 'direct',
      tainted: false,
      readings,
    }).fix.hint
  }
  const place = 'the policy option of createToolHub'
  expect(hintOf({ place }, 'ls')).toBe(`Add { allow: "exec", on: "ls" } to ${place}.`)
  expect(hintOf({ place, defaults: at({ deny: 'exec' }) }, 'rm -rf x')).toContain(` to ${place}, then approve it`)
  expect(hintOf({}, 'ls')).toContain(' to policy in tool-hub.yaml.')
})
