import { describe, expect, it } from 'vitest'
import type { Rule, SourcedRule } from '../../core/src/principal.ts'
import { checkPolicy } from './check-policy.ts'

const known = { names: ['core/fs.readText', 'read_file', 'notes.save'], groups: ['group:fs', 'group:notes'] }
const sourced = (...list: Rule[]): SourcedRule[] =>
  list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/srv' }))
const check = (...list: Rule[]) => checkPolicy({ owner: sourced(...list) }, known)

describe('checkPolicy', () => {
  it('is content with known tools, dialects, groups, capabilities and *', () => {
    expect(
      check({ allow: 'read_file' }, { ask: 'group:notes' }, { deny: 'group:runtime' }, { ask: 'exec' }, { ask: '*' }),
    ).toEqual([])
  })

  it('reads subjects as rules do: case counts only in an allow of a tool or capability', () => {
    expect(check({ deny: 'Notes.Save' }, { ask: ' EXEC' }, { allow: 'group:FS' }, { allow: ' read_file' })).toEqual([])
    expect(check({ allow: 'Notes.Save' })).toMatchObject([
      { level: 'error', hint: expect.stringContaining('notes.save') },
    ])
    expect(check({ deny: 'Notes.Save' }, { allow: 'notes.save' })).toMatchObject([{ source: 'tool-hub.yaml:2' }])
  })

  it('calls an allow of an unknown name an error and suggests the name', () => {
    expect(check({ ask: 'exec' }, { allow: 'read_fil' })).toEqual([
      expect.objectContaining({
        level: 'error',
        source: 'tool-hub.yaml:2',
        hint: expect.stringContaining('read_file'),
      }),
    ])
  })

  it.each<Rule>([{ deny: 'teleport' }, { ask: 'teleport' }])('calls %j without such a tool a warning', (rule) => {
    expect(check(rule)).toMatchObject([{ level: 'warning', source: 'tool-hub.yaml:1' }])
  })

  it('knows groups and misspelt capabilities', () => {
    expect(check({ allow: 'group:fss' })).toMatchObject([
      {
        level: 'error',
        message: expect.stringContaining('no group'),
        hint: expect.stringContaining('Did you mean group:fs'),
      },
    ])
    expect(check({ allow: 'reed:fs' })).toMatchObject([{ level: 'error', hint: expect.stringContaining('read:fs') }])
  })

  it.each<[Rule, Rule]>([
    [{ deny: '*' }, { allow: 'read_file', on: './x' }],
    [{ deny: 'exec' }, { allow: 'exec', on: 'git *' }],
    [{ deny: 'group:notes' }, { allow: 'notes.save' }],
    [
      { deny: 'exec', on: ['rm *', 'git *'] },
      { ask: 'exec', on: 'git *' },
    ],
    [
      { deny: 'exec', when: { tainted: true } },
      { ask: 'exec', when: { tainted: true } },
    ],
  ])('warns that %j shadows %j', (deny, rule) => {
    expect(check(deny, rule)).toMatchObject([
      { level: 'warning', source: 'tool-hub.yaml:2', message: expect.stringContaining('never decides') },
    ])
  })

  it.each<[Rule, Rule]>([
    [{ deny: 'exec', on: 'rm *' }, { allow: 'exec' }],
    [{ deny: 'exec', when: { tainted: true } }, { allow: 'exec' }],
    [{ deny: '*', except: './x' }, { allow: 'read_file' }],
    [{ deny: 'notes.save' }, { allow: 'group:notes' }],
    [{ deny: '*' }, { deny: 'exec' }],
  ])('does not warn that %j shadows %j', (deny, rule) => {
    expect(check(deny, rule)).toEqual([])
  })

  it('warns of an allow of commands that can never allow any unasked', () => {
    const warnings = check({ allow: 'exec', on: ['./run.sh *', 'bash x.sh', 'sh *', 'ls *', 'bash --version'] })
    expect(warnings.map(({ level, message }) => `${level}: ${message.split(':')[0]}`)).toEqual([
      'warning: allow exec on ./run.sh * allows nothing unasked',
      'warning: allow exec on bash x.sh allows nothing unasked',
      'warning: allow exec on sh * allows nothing unasked',
    ])
    expect(check({ deny: 'exec', on: ['./run.sh', 'sh *'] })).toEqual([])
  })

  it('sees a shadow of the always layer', () => {
    const always = sourced({ deny: 'network', on: '169.254.169.254' })
    expect(checkPolicy({ always, owner: sourced({ allow: 'network', on: '169.254.169.254' }) }, known)).toHaveLength(1)
  })
})
