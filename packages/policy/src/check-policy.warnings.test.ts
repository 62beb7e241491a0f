import { describe, expect, it } from 'vitest'
import type { Rule, SourcedRule } from '../../core/src/principal.ts'
import { checkPolicy } from './check-policy.ts'

const rules = (...list: Rule[]): SourcedRule[] =>
  list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/srv' }))

describe('checks of a policy', () => {
  const known = { names: ['notes.save'], groups: ['group:notes'], arriving: ['web__'] }
  const check = (...list: Rule[]) => checkPolicy({ owner: rules(...list) }, known)

  it.each<[Rule, Rule]>([
    [{ deny: 'exec', when: { caller: 'script' } }, { allow: 'exec' }],
    [
      { deny: 'exec', when: { caller: 'script' } },
      { allow: 'exec', when: { caller: 'direct' } },
    ],
    [{ deny: 'exec', when: { tainted: true } }, { allow: 'exec' }],
    [
      { deny: 'exec', when: { tainted: true } },
      { allow: 'exec', when: { tainted: false } },
    ],
    [{ deny: 'exec', except: 'ls' }, { allow: 'exec' }],
    [{ deny: 'exec', on: 'ls' }, { allow: 'exec' }],
    [
      { deny: 'exec', on: 'ls' },
      { allow: 'exec', on: ['ls', 'cat'] },
    ],
    [{ deny: 'network' }, { allow: 'exec' }],
    [{ deny: 'group:runtime' }, { allow: 'notes.save' }],
    [{ deny: 'exec' }, { deny: 'exec', on: 'ls' }],
  ])('%j leaves %j something to decide', (deny, rule) => {
    expect(check(deny, rule)).toEqual([])
  })

  it.each<[Rule, Rule]>([
    [{ deny: 'exec' }, { allow: 'exec', on: 'ls' }],
    [{ deny: '*' }, { ask: 'network' }],
    [
      { deny: 'exec', when: { caller: 'script' } },
      { allow: 'exec', when: { caller: 'script' } },
    ],
    [
      { deny: 'exec', when: { tainted: true } },
      { allow: 'exec', when: { tainted: true } },
    ],
    [
      { deny: 'exec', on: ['ls', 'cat'] },
      { allow: 'exec', on: 'cat' },
    ],
    [{ deny: 'group:notes' }, { allow: 'notes.save' }],
    // A deny without conditions covers every rule with some.
    [{ deny: 'exec' }, { allow: 'exec', when: { caller: 'direct' } }],
    [{ deny: 'exec' }, { allow: 'exec', when: { tainted: true } }],
  ])('%j leaves %j nothing to decide', (deny, rule) => {
    expect(check(deny, rule)).toEqual([
      {
        level: 'warning',
        message: expect.stringMatching(
          /^.* \(tool-hub\.yaml:2\) never decides: .* \(tool-hub\.yaml:1\) covers all of it, and a deny wins\.$/,
        ),
        source: 'tool-hub.yaml:2',
        hint: 'Remove one of the two, or narrow the deny with on, except or when.',
      },
    ])
  })

  it.each<[Rule, object]>([
    [
      { allow: 'xyzzy' },
      {
        level: 'error',
        message: 'allow xyzzy: no tool has this name, so it grants nothing.',
        hint: 'List the names with tool-hub list.',
      },
    ],
    [
      { ask: 'group:xyzzy' },
      { level: 'warning', message: 'ask group:xyzzy: no group has this name, so it will ask nothing.' },
    ],
    [
      { allow: 'web__open' },
      {
        level: 'warning',
        message: 'allow web__open: this tool does not exist now; what begins with web__ comes from elsewhere.',
        hint: 'See whether it is there: tool-hub mcp test.',
      },
    ],
    [{ deny: 'web__*' }, { hint: 'For all tools of an MCP server: { allow: remote, on: "mcp:SERVER/*" }.' }],
    [
      { allow: 'exec', on: './run.sh *' },
      {
        level: 'warning',
        message: 'allow exec on ./run.sh * allows nothing unasked: a program by its path could be any program.',
        hint: 'Allow a program by its name, or leave the pattern out and approve the command when asked.',
      },
    ],
    [
      { allow: 'exec', on: ['ls', ' bash  x.sh'] },
      { message: 'allow exec on  bash  x.sh allows nothing unasked: what a shell runs is judged by itself.' },
    ],
    [
      { deny: 'group:FS' },
      {
        level: 'warning',
        message:
          'deny group:fs: group:fs is read, write, edit and apply_patch only; every tool for files is in group:files.',
      },
    ],
  ])('warn of %j', (rule, warning) => {
    expect(check(rule)).toEqual([expect.objectContaining({ source: 'tool-hub.yaml:1', ...warning })])
  })

  it.each<Rule[]>([
    [{ allow: 'exec', on: 'bash -c *' }],
    [{ allow: 'exec', on: 'ls *' }],
    [{ ask: 'exec', on: './run.sh' }],
    [{ allow: 'group:fs' }],
    [{ deny: 'group:fs' }, { deny: 'group:files' }],
    [{ deny: 'group:fs' }, { ask: '*' }],
  ])('accept %j, %j', (...list) => {
    expect(check(...list).filter(({ message }) => !message.includes('never decides'))).toEqual([])
  })
})

it('reports an argument that the tool does not have, with the nearest name', () => {
  const owner = [
    { allow: 'mail.send', where: { recipent: 'a@b.org' } },
    { deny: 'mail.send', where: { '/too/deep': 1, '/recipients/0': 2 } },
    { allow: 'mail.*', where: { anything: 1 } },
    { allow: 'post.*' },
  ].map((rule) => ({ rule: rule as Rule, source: { file: 'x.yaml' }, base: '/' }))
  const argumentsOf = (name: string) => (name === 'mail.send' ? ['recipients', 'subject'] : undefined)
  const found = checkPolicy({ owner }, { names: ['mail.send'], groups: [], argumentsOf })
  expect(found.map(({ level, message, hint }) => [level, message, hint])).toEqual([
    [
      'error',
      'allow mail.send where recipent: mail.send has no argument recipent, so this rule can never match.',
      'Did you mean recipients?',
    ],
    [
      'warning',
      'deny mail.send where /too/deep: mail.send has no argument too, so this rule can never match.',
      'Its arguments: recipients, subject.',
    ],
    ['error', 'allow post.*: no tool has this name, so it grants nothing.', expect.any(String)],
  ])
})
