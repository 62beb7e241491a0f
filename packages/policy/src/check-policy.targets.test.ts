import { describe, expect, it } from 'vitest'
import type { Rule } from '../../core/src/principal.ts'
import { checkPolicy } from './check-policy.ts'
import { compilePolicy } from './compile-policy.ts'

function check(rule: Rule, { base = '/srv/project', roots }: { base?: string; roots?: readonly string[] } = {}) {
  const owner = [{ rule, source: { file: 'tool-hub.yaml', line: 3 }, base }]
  compilePolicy({ owner, home: '/home/ada' })
  return checkPolicy({ owner }, { names: [], groups: [], roots })
}

describe('paths of rules that start above sandbox.root', () => {
  const roots = ['/srv/project/app', '/srv/project/shared']

  it.each<[Rule, string]>([
    [{ allow: 'write:fs', on: './src/**' }, './app/src/**'],
    [{ deny: 'read:fs', on: 'secrets/*.key' }, './app/secrets/*.key'],
    [{ ask: 'danger:destructive', on: ['./src', './app/x'] }, './app/src'],
    [{ deny: 'write:fs', on: './apps/**' }, './app/apps/**'],
  ])('%j matches nothing', (rule, meant) => {
    const [pattern] = [rule.on ?? []].flat()
    expect(check(rule, { roots })).toEqual([
      {
        level: 'warning',
        message: expect.stringContaining(`${pattern} matches nothing below sandbox.root: it means /srv/project/`),
        source: 'tool-hub.yaml:3',
        hint: `Did you mean ${meant}? Paths in rules start at /srv/project.`,
      },
    ])
  })

  it.each<Rule>([
    { allow: 'write:fs', on: './app/src/**' },
    { allow: 'write:fs', on: './shared/x.txt' },
    { allow: 'write:fs', on: '.' },
    { allow: 'write:fs', on: './*/src' },
    { allow: 'write:fs', on: './{app,lib}/src' },
    { deny: 'read:fs', on: '**/.env' },
    { deny: 'read:fs', on: '~/.ssh/**' },
    { deny: 'read:fs', on: '/etc/**' },
    { allow: 'network', on: 'src.example.org' },
    { allow: 'write:fs' },
  ])('%j may match', (rule) => {
    expect(check(rule, { roots })).toEqual([])
  })

  it('is not said where the root is the folder of the rules, lies elsewhere, or is not known', () => {
    const rule = { allow: 'write:fs', on: './src/**' }
    for (const given of [['/srv/project'], ['/data'], ['/srv/project-two/app'], undefined])
      expect(check(rule, { roots: given })).toEqual([])
  })
})

describe('targets of remote tools', () => {
  it.each([
    ['client:*', 'client:*/*'],
    ['client:page', 'client:page/*'],
    ['mcp:git*', 'mcp:git*/*'],
  ])('%s matches no tool', (on, meant) => {
    expect(check({ allow: 'remote', on })).toMatchObject([
      { level: 'warning', message: expect.stringContaining(`${on} matches no tool`), hint: `Did you mean ${meant}?` },
    ])
  })

  it.each(['client:*/*', 'client:page/*', 'mcp:github/get_issue', 'client:**', '{client,mcp}:x/*', 'crm', '*'])(
    '%s may match one',
    (on) => expect(check({ allow: 'remote', on })).toEqual([]),
  )
})
