import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../core/src/principal.ts'
import type { Capability } from '../../core/src/tool.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide/decide.ts'
import { DEFAULT_POLICY } from './default-policy.generated.ts'

function judge(capability: Capability, value: string | undefined, ...owner: Rule[]) {
  const own = owner.map((rule) => ({ rule, source: { file: 'tool-hub.yaml' }, base: '/srv' }))
  return decide(compilePolicy({ ...DEFAULT_POLICY, owner: own, home: '/home/ann' }), {
    tool: 'x',
    names: ['x'],
    groups: [],
    capabilities: [capability],
    targets: value === undefined ? [] : [{ capability, value }],
    caller: 'direct',
    tainted: false,
  })
}

describe('the shipped policy', () => {
  it.each<[Capability, string | undefined, string]>([
    ['read:fs', '/srv/a.md', 'allow'],
    ['write:fs', '/srv/a.md', 'allow'],
    ['danger:destructive', '/srv/a.md', 'deny'],
    ['network', 'https://x.org/', 'allow'],
    ['exec', 'ls', 'deny'],
    ['exec', undefined, 'deny'],
    ['memory', 'team', 'ask'],
  ])('%s on %s: %s until the owner says otherwise', (capability, value, effect) => {
    expect(judge(capability, value)).toMatchObject({
      effect,
      layer: 'defaults',
      source: expect.stringMatching(/^shipped policy:\d+$/),
    })
    expect(judge(capability, value, { ask: capability })).toMatchObject({ effect: 'ask', layer: 'owner' })
  })

  it.each<[Capability, string]>([
    ['read:fs', '/home/ann/.ssh/id_ed25519'],
    ['read:fs', '/srv/tls/server.pem'],
    ['read:fs', '/srv/server.key'],
    ['read:fs', '/srv/.env'],
    ['read:fs', '/srv/app/.env.production'],
    ...(['write:fs', 'danger:destructive'] as const).flatMap((capability): [Capability, string][] =>
      [
        '/home/ann/.ssh/authorized_keys',
        '/srv/.git/hooks/pre-commit',
        '/srv/.git',
        '/home/ann/.bashrc',
        '/home/ann/.zshrc',
        '/home/ann/.profile',
        '/srv/.mcp.json',
        '/srv/.envrc',
        '/srv/.vscode/tasks.json',
        '/srv/.claude/settings.json',
        '/srv/.cursor/mcp.json',
        '/srv/tool-hub.yaml',
        '/srv/sub/tool-hub.mjs',
        '/srv/.tool-hub/grants.json',
      ].map((path) => [capability, path]),
    ),
    ['network', 'http://169.254.169.254/latest/meta-data/'],
    ['network', 'http://[fd00:ec2::254]/latest'],
    ['network', 'http://168.63.129.16/'],
    ['network', 'http://100.100.100.200/'],
    ['network', 'http://metadata.google.internal:80/computeMetadata'],
  ])('%s on %s is denied whatever the owner allows', (capability, value) => {
    expect(judge(capability, value, { allow: '*' }, { allow: 'x', on: '**' })).toMatchObject({
      effect: 'deny',
      layer: 'always',
    })
  })

  it('gives a reason for every rule, and names the line it stands in', async () => {
    const lines = (await readFile(new URL('default.yaml', import.meta.url), 'utf8')).split('\n')
    for (const { rule, source } of [...DEFAULT_POLICY.always, ...DEFAULT_POLICY.defaults]) {
      expect(rule.reason).toMatch(/\.$/)
      expect(lines[source.line! - 1]).toContain(`- ${rule.deny ? 'deny' : rule.ask ? 'ask' : 'allow'}:`)
    }
  })

  it('is generated from default.yaml as it is now', async () => {
    const { generateDefaultPolicy } = await import(
      new URL('../../../scripts/generate-default-policy.mjs', import.meta.url).href
    )
    expect(await readFile(new URL('default-policy.generated.ts', import.meta.url), 'utf8')).toBe(
      generateDefaultPolicy(),
    )
  })
})
