import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function refusal(content: string, name = 'tool-hub.yaml'): Promise<ToolError> {
  await writeFile(path.join(folder, name), content)
  const error = await loadConfig({ cwd: folder, file: name }).catch((reason: unknown) => reason)
  if (ToolError.is(error) && error.code === 'CONFIG_INVALID') return error
  throw new Error('was not refused', { cause: error })
}

describe('a mistake in the config', () => {
  it.each([
    [
      'an unknown key',
      'version: 1\nlimit: { calls: 3 }\n',
      'tool-hub.yaml:2:1 limit: unknown key. Did you mean limits?',
    ],
    [
      'an unknown key further in',
      'limits:\n  timeot: 5s\n',
      'tool-hub.yaml:2:3 limits.timeot: unknown key. Did you mean timeout',
    ],
    [
      'an unknown key of a rule',
      'policy:\n  - ask: exec\n    onn: x\n',
      'tool-hub.yaml:3:5 policy[0].onn: unknown key. Did you mean on?',
    ],
    [
      'an unknown key of a tool',
      'limits: { tools: { a: { cals: 1 } } }\n',
      'tool-hub.yaml:1:25 limits.tools.a.cals: unknown key. Did you mean calls?',
    ],
    [
      'a key that resembles none',
      'quux: {}\n',
      'tool-hub.yaml:1:1 quux: unknown key. Known here: $schema, version, tools, policy, sandbox,',
    ],
    ['a wrong type', 'caller: [a]\n', 'tool-hub.yaml:1:9 caller: must be a text, not a list.'],
    [
      'a wrong type in a list',
      'tools:\n  deny:\n    - exec\n    - 3\n',
      'tool-hub.yaml:4:7 tools.deny[1]: must be a text, not 3.',
    ],
    [
      'a text for a list',
      'sandbox: { network: api.github.com }\n',
      'tool-hub.yaml:1:21 sandbox.network: must be a list, not "api.github.com".',
    ],
    [
      'nothing for a list',
      'policy:\nversion: 1\n',
      'tool-hub.yaml:1:1 policy: must be a list or a text or a mapping of keys, not nothing.',
    ],
    [
      'one of two wrong types',
      'runs: true\n',
      'tool-hub.yaml:1:7 runs: must be a text or false or a mapping of keys, not true.',
    ],
    ['a list where a config should be', '- a\n- b\n', 'tool-hub.yaml:1:1 must be a mapping of keys, not a list.'],
    [
      'a value that is none of the known',
      'tools: { profile: codng }\n',
      'tool-hub.yaml:1:19 tools.profile: must be one of minimal, coding, messaging, full, not "codng". Did you mean coding?',
    ],
    ['another version', 'version: 2\n', 'tool-hub.yaml:1:10 version: must be 1, not 2.'],
    [
      'a time without sense',
      'limits: { timeout: 60x }\n',
      'tool-hub.yaml:1:20 limits.timeout: "60x" is not a time. Use 250ms, 60s, 5m, 1h, 1d or a number of milliseconds, 1 or more.',
    ],
    [
      'a size without sense',
      'limits: { output: 30 kilo }\n',
      'tool-hub.yaml:1:19 limits.output: "30 kilo" is not a size. Use 512B, 30KB',
    ],
    [
      'a rate without sense',
      'limits: { rate: fast }\n',
      'tool-hub.yaml:1:17 limits.rate: "fast" is not a rate. Use 10/s',
    ],
    [
      'a time that is a list',
      'limits: { timeout: [1] }\n',
      'tool-hub.yaml:1:20 limits.timeout: must be a text or a number, not a list.',
    ],
    ['a negative number', 'limits: { calls: -1 }\n', 'tool-hub.yaml:1:18 limits.calls: must be at least 0, not -1.'],
    [
      'a part of a number',
      'limits: { calls: 1.5 }\n',
      'tool-hub.yaml:1:18 limits.calls: must be a whole number, not 1.5.',
    ],
    [
      'an infinite number',
      'limits: { cost: .inf }\n',
      'tool-hub.yaml:1:17 limits.cost: must be a number, not Infinity.',
    ],
    ['an empty text', 'sandbox: { root: "" }\n', 'tool-hub.yaml:1:18 sandbox.root: must not be empty.'],
    [
      'a missing part',
      'sandbox: { roots: [{ path: . }] }\n',
      'tool-hub.yaml:1:20 sandbox.roots[0].mode: must be one of read, write, and is missing.',
    ],
    [
      'a range that is none',
      'sandbox: { privateRanges: [10.0.0.0/40] }\n',
      'tool-hub.yaml:1:28 sandbox.privateRanges[0]: ',
    ],
    [
      'a rule without a verb',
      'policy:\n  - { on: x }\n',
      'tool-hub.yaml:2:5 policy[0]: a rule has one verb of allow, ask and deny, this one has none.',
    ],
    [
      'a rule with two verbs',
      'policy:\n  - { allow: a, deny: b }\n',
      'tool-hub.yaml:2:5 policy[0]: a rule has one verb of allow, ask and deny, this one has allow and deny.',
    ],
    [
      'a budget said twice',
      'limits:\n  calls: 1\n  run: { calls: 2 }\n',
      'tool-hub.yaml:2:10 limits.calls: is also set as limits.run.calls; keep one of them.',
    ],
    [
      'a plugin that is not a name',
      'plugins: [3]\n',
      'tool-hub.yaml:1:11 plugins[0]: must be a text or a list of a name and its options or a mapping of keys, not 3.',
    ],
    ['a key twice', 'caller: a\nruns: x\ncaller: b\n', 'tool-hub.yaml:3:1 the key caller is there twice.'],
    ['broken syntax', 'tools: { profile: coding\nversion: 1\n', 'tool-hub.yaml:2:1 Flow map'],
    ['a tab as indentation', 'tools:\n\tprofile: coding\n', 'tool-hub.yaml:2:1 Tabs are not allowed as indentation'],
    ['an alias of nothing', 'runs: &a x\ndata: *a\ncaller: *nobody\n', 'tool-hub.yaml:3:9 Unresolved alias'],
    [
      'a second document',
      'version: 1\n---\nversion: 1\n',
      'tool-hub.yaml:2:1 here begins a second document; a config is one.',
    ],
    [
      'visibility mixed with policy',
      'tools:\n  profile: coding\n  read_file: { action: allow }\n',
      'tool-hub.yaml:3:3 tools.read_file: profile says which tools are visible, read_file what a tool may do, and tools holds one of the two.',
    ],
    [
      'a misspelt key of visibility',
      'tools: { profil: coding }\n',
      'tool-hub.yaml:1:10 tools.profil: unknown key. Did you mean profile?',
    ],
    [
      'a misspelt key of policy by tool',
      'tools:\n  read_file:\n    acton: allow\n',
      'tool-hub.yaml:3:5 tools.read_file.acton: unknown key. Did you mean action?',
    ],
    [
      'a misspelt action',
      'tools: { default: aks }\n',
      'tool-hub.yaml:1:19 tools.default: must be one of allow, ask, deny, not "aks". Did you mean ask?',
    ],
    ['a policy file that is not there', 'policy: ./polcy.yaml\n', 'polcy.yaml does not exist.'],
  ])('is reported with its place: %s', async (_, text, expected) => {
    expect((await refusal(text)).message).toContain(expected)
  })

  it('comes with all the others in the order of the file, up to ten', async () => {
    const error = await refusal('a1: 1\nlimits: { timeout: x, calls: y }\ntools: { profile: z }\n')
    expect(error.message.split('\n  ')).toEqual([
      'tool-hub.yaml has 4 problems:',
      expect.stringContaining('tool-hub.yaml:1:1 a1'),
      expect.stringContaining('tool-hub.yaml:2:20 limits.timeout'),
      expect.stringContaining('tool-hub.yaml:2:30 limits.calls'),
      expect.stringContaining('tool-hub.yaml:3:19 tools.profile'),
    ])
    const many = await refusal(Array.from({ length: 25 }, (_, index) => `key${index}: 1`).join('\n'))
    expect(many.message.split('\n  ')).toHaveLength(12)
    expect(many.message).toMatch(/has 25 problems:[\s\S]*and 15 more$/)
  })

  it('in a policy file is reported with the place in that file', async () => {
    await writeFile(path.join(folder, 'rules.yaml'), 'tools:\n  default: maybe\n')
    expect((await refusal('policy: rules.yaml\n')).message).toContain(
      'rules.yaml:2:12 tools.default: must be one of allow, ask, deny, not "maybe".',
    )
    await writeFile(path.join(folder, 'rules.yaml'), 'tools: {}\nlimits: {}\n')
    expect((await refusal('policy: rules.yaml\n')).message).toContain(
      'rules.yaml:2:1 limits: unknown key. Known here: tools.',
    )
  })

  it.each([
    ['json', '{\n  "limits": { "timeout": "x" }\n}', 'tool-hub.json:2:26 limits.timeout: "x" is not a time.'],
    ['json', '{ "caller": "a", "caller": "b" }', 'tool-hub.json:1:18 the key caller is there twice.'],
    ['json', '{\n  "caller": "a"\n  "runs": "b"\n}', "tool-hub.json:3:3 invalid character '\\\"'."],
    ['json', '{ "caller": ', 'tool-hub.json:1:13 invalid end of input.'],
    ['jsonc', '{\n  // why\n  "callr": 1,\n}', 'tool-hub.jsonc:3:3 callr: unknown key. Did you mean caller?'],
    ['json5', '{callr:1}', 'tool-hub.json5:1:1 callr: unknown key. Did you mean caller?'],
    [
      'mjs',
      'export default { limits: { timeout: "x" } }',
      'tool-hub.mjs#limits.timeout limits.timeout: "x" is not a time.',
    ],
    ['mjs', 'export default () => { throw new Error("no luck") }', 'tool-hub.mjs fails: no luck'],
    ['mjs', 'export const config = {}', 'tool-hub.mjs has no default export.'],
    ['mjs', 'export default {', 'tool-hub.mjs fails: '],
    ['toml', 'caller = "a"', 'tool-hub.toml is not a kind of config tool-hub reads.'],
  ])('is reported in a %s file too: %s', async (kind, text, expected) => {
    expect((await refusal(text, `tool-hub.${kind}`)).message).toContain(expected)
  })

  it('names the key that has to change', async () => {
    expect((await refusal('limits: { timeout: x }')).fix).toMatchObject({ key: 'limits.timeout' })
  })
})
