import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { POLICY_YAML } from '../../../test/support/policy-yaml.ts'
import type { SourcedRule } from '../../core/src/principal.ts'
import { loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function write(name: string, text: string): Promise<string> {
  const file = path.join(folder, name)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

describe('the formats of a config', () => {
  it('reads policy by tool, verbatim, wherever it stands', async () => {
    await write('policy.yaml', POLICY_YAML)
    await write('inside/tool-hub.yaml', `${POLICY_YAML}\nlimits: { calls: 3 }\n`)
    await write('beside/tool-hub.yaml', 'tools: { profile: coding }\npolicy: ../policy.yaml\n')
    const named = await loadConfig({ cwd: folder, file: 'policy.yaml' })
    const inside = await loadConfig({ cwd: path.join(folder, 'inside') })
    const beside = await loadConfig({ cwd: path.join(folder, 'beside') })

    const rules = named.options.policy as SourcedRule[]
    expect(rules.length).toBeGreaterThan(5)
    expect(
      rules.every(({ source, base }) => source.file === 'policy.yaml' && (source.line ?? 0) > 2 && base === folder),
    ).toBe(true)
    expect((inside.options.policy as SourcedRule[]).map(({ rule }) => rule)).toEqual(rules.map(({ rule }) => rule))
    expect(inside.options).toMatchObject({ limits: { run: { calls: 3 } } })
    expect((beside.options.policy as SourcedRule[]).map(({ rule }) => rule)).toEqual(rules.map(({ rule }) => rule))
    expect((beside.options.policy as SourcedRule[])[0]).toMatchObject({
      source: { file: path.join(folder, 'policy.yaml') },
      base: folder,
    })
    expect(beside.options.visibility).toEqual({ profile: 'coding' })
  })

  it('reads visibility as JSON5, verbatim', async () => {
    await write('tool-hub.json5', VISIBILITY_JSON5)
    const { options } = await loadConfig({ cwd: folder })
    expect(options.visibility).toEqual({ profile: 'coding', allow: ['group:fs', 'group:runtime'], deny: ['exec'] })
  })

  it.each([
    ['json', '{\n  "policy": [\n    { "ask": "exec" },\n    { "allow":"read:fs" }\n  ]\n}'],
    [
      'jsonc',
      '{\n  // two rules\n  "policy": [\n    { "ask": "exec" }, /* a "quoted" comment\n */ { "allow": "read:fs" },\n  ],\n}',
    ],
    ['json5', "{\n\tpolicy: [\n\n\t\t{ask: 'exec'},\n{allow: 'read:fs', reason: 'it // is fine'}] }"],
  ])('knows the line of a rule in %s', async (kind, text) => {
    await write(`tool-hub.${kind}`, text)
    const { options } = await loadConfig({ cwd: folder })
    const lines = { json: [3, 4], jsonc: [4, 5], json5: [4, 5] }[kind]
    expect((options.policy as SourcedRule[]).map(({ source }) => source)).toEqual(
      lines?.map((line) => ({ file: `tool-hub.${kind}`, line })),
    )
  })

  it('names a rule by its path where lines are not known', async () => {
    await write('tool-hub.json5', "{ policy: [{ask:'exec'}, { allow: 'read:fs', reason: 'it\\'s fine' }] }")
    const { options } = await loadConfig({ cwd: folder })
    expect((options.policy as SourcedRule[]).map(({ source }) => source)).toEqual([
      { file: 'tool-hub.json5#policy[0]' },
      { file: 'tool-hub.json5#policy[1]' },
    ])
  })

  it.each([
    ['an object', 'export default { limits: { timeout: "5s" }, policy: [{ ask: "exec" }] }'],
    ['a function', 'export default async () => ({ limits: { timeout: 5000 }, policy: [{ ask: "exec" }] })'],
  ])('runs a module whose default export is %s', async (_, text) => {
    await write('tool-hub.mjs', text)
    const { options } = await loadConfig({ cwd: folder })
    expect(options.limits).toEqual({ timeoutMs: 5_000 })
    expect(options.policy).toEqual([
      { rule: { ask: 'exec' }, source: { file: 'tool-hub.mjs#policy[0]' }, base: folder },
    ])
  })
})

const VISIBILITY_JSON5 = `{
  tools: {
    profile: "coding",  // minimal, coding, messaging, full
    allow: ["group:fs", "group:runtime"],
    deny: ["exec"]
  }
}
`
