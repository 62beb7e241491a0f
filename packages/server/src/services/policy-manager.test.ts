import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { loadConfig } from '../../../config/src/load-config.ts'
import type { ServiceEvent } from '../../../core/src/protocol/service.ts'
import { defineTool } from '../../../core/src/tool.ts'
import type { Hub } from '../../../runtime/src/hub/hub.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { RunIndexer } from '../../../runtime/src/hub/run-index/run-indexer.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { Caller } from '../auth/caller.ts'
import { createPolicyManager } from './policy-manager.ts'

const note = defineTool({
  name: 'test.note',
  description: 'Notes something.',
  input: z.strictObject({ topic: z.string() }),
  capabilities: ['remote'],
  targets: ({ topic }) => ({ remote: topic }),
  execute: ({ topic }) => topic,
})

const CONFIG = `# ours
version: 1
policy:
  - { allow: test.note } # fine
  - { deny: "*", on: ["**/secret/**"], reason: "not yours" }
runs: ./runs
`

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-manager-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function setUp(config: string | undefined = CONFIG, name = 'tool-hub.yaml') {
  const configFile = join(folder, name)
  writeFileSync(configFile, config, { mode: 0o640 })
  const { options } = await loadConfig({ file: configFile, cwd: folder, plugins: false })
  const hub = testHub({ policy: options.policy ?? [], tools: [note] }) as unknown as TestHub
  const store = createMemoryStore()
  const runsFolder = join(hub.folder, 'runs')
  const indexer = new RunIndexer({ calls: store.calls, runsFolder })
  indexer.follow(hub)
  closers.push(
    () => hub.close(),
    () => indexer.close(),
  )
  const published: ServiceEvent[] = []
  const events = { publish: (event: ServiceEvent) => void published.push(event) }
  const manager = createPolicyManager({ hub, store, runsFolder, indexer, events, configFile, cwd: folder })
  return { configFile, hub, manager, published }
}

const caller = (hub: Hub) =>
  ({ name: 'token:ada', scopes: new Set(), hub: hub as unknown as PrincipalHub }) satisfies Caller

describe('the state of the rules', () => {
  it('has every rule with its layer and source, and the part of the config as it is written', async () => {
    const { manager } = await setUp()
    const { rules, yaml, file, version, readOnly } = await manager.state()
    expect(rules.filter(({ layer }) => layer === 'owner')).toEqual([
      { layer: 'owner', effect: 'allow', text: 'allow test.note', source: 'tool-hub.yaml:4' },
      {
        layer: 'owner',
        effect: 'deny',
        text: 'deny "*" on **/secret/**',
        source: 'tool-hub.yaml:5',
        reason: 'not yours',
      },
    ])
    expect(rules[0]).toMatchObject({ layer: 'always', effect: 'deny' })
    expect(rules.at(-1)).toMatchObject({ layer: 'defaults' })
    expect(yaml).toBe(CONFIG.slice(CONFIG.indexOf('policy:'), CONFIG.indexOf('runs:')))
    expect({ file, readOnly }).toEqual({ file: 'tool-hub.yaml', readOnly: undefined })
    expect(version).toMatch(/^[0-9a-f]{64}$/)
  })

  it('tells doubts about the rules', async () => {
    const { manager } = await setUp('policy:\n  - { allow: test.nite }\n')
    const { warnings } = await manager.state()
    expect(warnings).toMatchObject([{ level: 'error', source: 'tool-hub.yaml:2' }])
  })

  it.each([
    ['rules.json', '{ "policy": [{ "ask": "exec" }] }', /rules\.json is no YAML file/],
    ['broken.yaml', 'policy: []\n', /polcy/],
    ['named.yaml', 'policy: ./policy.yaml\n', /The rules are in \.\/policy\.yaml/],
  ])('says why %s cannot be changed here', async (name, config, why) => {
    writeFileSync(join(folder, 'policy.yaml'), 'tools: { default: ask }\n')
    const { manager, configFile } = await setUp(config, name)
    if (name === 'broken.yaml') writeFileSync(configFile, 'polcy: []\n')
    const { readOnly, version } = await manager.state()
    expect(readOnly).toMatch(why)
    await expect(manager.save({ yaml: '[]', version, by: 'ada' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})

describe('explaining', () => {
  it('says what policy says to a caller, and what would change it', async () => {
    const { manager, hub } = await setUp()
    const told = await manager.explain(caller(hub), { tool: 'test.note', input: { topic: '/a/secret/b' } })
    expect(told).toMatchObject({ tool: 'test.note', effect: 'deny', source: 'tool-hub.yaml:5', reason: 'not yours' })
    expect(told.targets).toEqual([{ capability: 'remote', value: '/a/secret/b' }])
    expect(told.fix).toBeTypeOf('string')
  })

  it('denies what could not be called at all', async () => {
    const { manager, hub } = await setUp()
    expect(await manager.explain(caller(hub), { tool: 'no.such', input: {} })).toMatchObject({
      effect: 'deny',
      rule: 'TOOL_NOT_FOUND',
    })
  })
})

describe('trying other rules', () => {
  it('tells which of the latest calls they would decide otherwise', async () => {
    const { manager, hub } = await setUp()
    await hub.callDynamic('test.note', { topic: 'plain' })
    const { callId } = await hub.callDynamic('test.note', { topic: 'special' })
    await hub.callDynamic('test.note', { topic: 'x'.repeat(5_000) })
    await hub.callDynamic('test.note', { wrong: true })
    const report = await manager.test({
      yaml: '- { allow: test.note }\n- { ask: test.note, on: special, reason: "look twice" }\n',
      calls: 100,
    })
    expect(report).toMatchObject({ checked: 2, skipped: 2 })
    expect(report.changed).toMatchObject([
      { call: { callId }, before: 'allow', after: 'ask', source: 'rules:2', reason: 'look twice' },
    ])
  })

  it('finds nothing changed by the rules that hold', async () => {
    const { manager, hub } = await setUp()
    await hub.callDynamic('test.note', { topic: 'plain' })
    const { yaml } = await manager.state()
    expect(await manager.test({ yaml, calls: 10 })).toMatchObject({ checked: 1, changed: [] })
  })

  it('is done once for those who try the same concurrently', async () => {
    const { manager } = await setUp()
    const asked = { yaml: '- { allow: test.note }\n', calls: 10 }
    const [one, same, other] = await Promise.all([
      manager.test(asked),
      manager.test({ ...asked }),
      manager.test({ ...asked, calls: 9 }),
    ])
    expect(same).toBe(one)
    expect(other).not.toBe(one)
  })

  it.each([
    ['- { allow: a }\n- { alow: b }\n', /rules:2/],
    ['policy:\n  - { ask: exec, deny: exec }\n', /rules:2.*one verb/],
    ['- [', /rules:1/],
    ['version: 1\n', /rules:1.*version/],
    ['policy: ./other.yaml\n', /rules:1/],
    ['just text', /not a list of rules/],
    ['- { allow: a, on: "**/[" }\n', /./],
  ])('says what is wrong with %j, and where', async (yaml, message) => {
    const { manager } = await setUp()
    await expect(manager.test({ yaml, calls: 10 })).rejects.toThrow(message)
  })
})

describe('saving rules', () => {
  it('writes only the rules, and uses them immediately', async () => {
    const { manager, hub, configFile, published } = await setUp()
    const { version } = await manager.state()
    const state = await manager.save({ yaml: 'policy:\n  - { deny: test.note } # closed\n', version, by: 'token:ada' })
    expect(readFileSync(configFile, 'utf8')).toBe(
      '# ours\nversion: 1\npolicy:\n  - { deny: test.note } # closed\nruns: ./runs\n',
    )
    expect(statSync(configFile).mode & 0o777).toBe(0o640)
    expect(state.version).not.toBe(version)
    expect(state.rules.filter(({ layer }) => layer === 'owner')).toMatchObject([{ source: 'tool-hub.yaml:4' }])
    expect(await hub.callDynamic('test.note', { topic: 'a' })).toMatchObject({ ok: false, status: 'denied' })
    expect(published).toEqual([{ type: 'policy-changed' }])
  })

  it('refuses when the file was changed meanwhile, also by a save at the same time', async () => {
    const { manager, configFile } = await setUp()
    const { version } = await manager.state()
    const saves = ['- { ask: test.note }', '- { deny: test.note }'].map((yaml) =>
      manager.save({ yaml, version, by: 'ada' }),
    )
    expect((await Promise.allSettled(saves)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await expect(saves[1]).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(readFileSync(configFile, 'utf8')).toContain('- { ask: test.note }')
  })

  it('changes nothing when the rules are wrong', async () => {
    const { manager, configFile, hub } = await setUp()
    const { version } = await manager.state()
    await expect(manager.save({ yaml: '- { allow: "" }', version, by: 'ada' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
    expect(readFileSync(configFile, 'utf8')).toBe(CONFIG)
    expect((await hub.callDynamic('test.note', { topic: 'a' })).ok).toBe(true)
  })

  it('keeps what the config says of tools in the other form', async () => {
    const { manager, configFile } = await setUp('tools:\n  test.note: { action: ask }\n')
    const { version } = await manager.state()
    const state = await manager.save({ yaml: '- { deny: exec }', version, by: 'ada' })
    expect(readFileSync(configFile, 'utf8')).toBe('tools:\n  test.note: { action: ask }\npolicy:\n- { deny: exec }\n')
    const owner = state.rules.filter(({ layer }) => layer === 'owner').map(({ text }) => text)
    expect(owner).toEqual(expect.arrayContaining(['ask test.note', 'deny exec']))
  })
})
