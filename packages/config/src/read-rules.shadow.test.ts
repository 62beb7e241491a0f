import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load-config.ts'
import { readRules } from './read-rules.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-shadow-config-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const CONFIG = `policy:
  rules:
    - { allow: "network", on: a.example }
    - { deny: exec }
  shadow: ./next.yaml
`

async function load(next: string | undefined, config = CONFIG) {
  writeFileSync(join(folder, 'tool-hub.yaml'), config)
  if (next !== undefined) writeFileSync(join(folder, 'next.yaml'), next)
  return (await loadConfig({ cwd: folder })).options
}
const placed = (rules: readonly unknown[] | undefined) =>
  (rules as { rule: object; source: { file: string; line: number } }[] | undefined)?.map(({ rule, source }) => [
    rule,
    `${source.file}:${source.line}`,
  ])

describe('policy as a mapping', () => {
  it('has the rules in force, and the file with those that are tried, each with its line', async () => {
    const { policy, shadowPolicy, sandbox } = await load('policy:\n  - { deny: "*" }\n')
    expect(placed(policy)).toEqual([
      [{ allow: 'network', on: 'a.example' }, 'tool-hub.yaml:3'],
      [{ deny: 'exec' }, 'tool-hub.yaml:4'],
    ])
    expect(placed(shadowPolicy)).toEqual([[{ deny: '*' }, 'next.yaml:2']])
    // Tools must not write what may become the policy.
    expect(sandbox?.protect).toEqual([join(folder, 'tool-hub.yaml'), join(folder, 'next.yaml')])
    const { rules, shadow, files, sections } = await readRules(join(folder, 'tool-hub.yaml'), folder)
    expect([rules.length, shadow?.length, files.length]).toEqual([2, 1, 2])
    expect(sections).not.toHaveProperty('shadow')
  })

  it.each([
    ['a list of rules alone', '# next\n- { deny: "*" }\n', 'next.yaml:2'],
    ['a mapping', 'policy:\n  rules:\n    - { deny: "*" }\n', 'next.yaml:3'],
  ])('takes %s as the file', async (_, next, place) => {
    expect(placed((await load(next)).shadowPolicy)).toEqual([[{ deny: '*' }, place]])
  })

  it('takes a policy.yaml, an empty list, and a shadow without rules in force', async () => {
    const { shadowPolicy } = await load('tools: { default: deny }\n')
    expect(shadowPolicy?.length).toBeGreaterThan(0)
    expect((await load('policy: []\n')).shadowPolicy).toEqual([])
    const alone = await load('- { deny: "*" }\n', 'policy: { shadow: ./next.yaml }\n')
    expect([alone.policy, alone.shadowPolicy?.length]).toEqual([[], 1])
  })

  it('takes the path of a policy.yaml as the rules in force', async () => {
    writeFileSync(join(folder, 'policy.yaml'), 'tools: { default: deny }\n')
    const { policy } = await load('policy: []\n', 'policy: { rules: ./policy.yaml, shadow: ./next.yaml }\n')
    expect(placed(policy)?.[0]?.[1]).toBe('policy.yaml:1')
  })

  it.each([
    ['that does not exist', undefined, /^tool-hub\.yaml:5:11 policy\.shadow: next\.yaml does not exist\.$/],
    ['that is empty', '\n', 'next.yaml has no rules.'],
    ['that is no YAML', 'policy: [\n', /^next\.yaml:\d+/],
    ['with a broken rule', 'policy:\n  - { alow: "*" }\n', /next\.yaml:2:5 policy\[0\]/],
    ['with a broken rule in a bare list', '- { deny: "*" }\n- { alow: "*" }\n', /next\.yaml:2:3 /],
    ['with other sections', 'policy: []\nsandbox: { root: . }\n', 'next.yaml:2:1 sandbox: is not part of the rules'],
    ['with visible tools', 'tools: { profile: coding }\n', 'next.yaml:1:1 tools: says which tools are visible'],
    ['that names a file', 'policy: ./policy.yaml\n', 'next.yaml:1:1 policy: names a file'],
    ['with a shadow', 'policy: { rules: [], shadow: ./a.yaml }\n', 'a shadow policy has no shadow policy'],
  ])('refuses a file %s, with its place', async (_, next, message) => {
    await expect(load(next)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    })
  })

  it('names the keys that it has', async () => {
    const config = 'policy: { rule: [], shadow: ./next.yaml }\n'
    await expect(load('policy: []\n', config)).rejects.toThrow(
      /tool-hub\.yaml:1:11 policy\.rule: unknown key\. Did you mean rules/,
    )
  })
})
