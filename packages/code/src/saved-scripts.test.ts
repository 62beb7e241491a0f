import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { loadSqlite } from '../../runtime/src/store/sqlite/database.ts'
import type { NewSavedScript, ScriptResult } from './types.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A hub on a folder; several hubs on one folder are like several processes. */
function open(options: HubOptions = {}, folder = temporaryFolder('code')) {
  const done: string[] = []
  let finish: () => void = () => {}
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const act = defineTool({
    name: 'test.act',
    description: 'Does something.',
    input: z.strictObject({ what: z.string() }),
    capabilities: ['remote'],
    targets: ({ what }) => ({ remote: `act:${what}` }),
    results: 'own',
    async execute({ what }) {
      if (what === 'slow')
        await new Promise<void>((resolve) => {
          finish = resolve
          begin()
        })
      done.push(what)
      return { did: what }
    },
  })
  const hub = createToolHub({
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    store: openStore(join(folder, 'store')),
    tools: [act],
    policy: [{ allow: 'remote' }, { ask: 'remote', on: 'act:ask*' }, { deny: 'remote', on: 'act:deny*' }],
    approvals: { inbox: true },
    code: { suspendAfterMs: 0 },
    ...options,
  })
  closing.push(() => hub.close())
  const save = (script: NewSavedScript) => hub.code.save(script, { by: 'ada' })
  const call = (tool: string, input: object = {}) => hub.callDynamic(tool, input, { caller: 'agent' })
  const names = () => hub.list().flatMap(({ name }) => (name.startsWith('script/') ? [name] : []))
  return { hub, folder, done, save, call, names, begun, finish: () => finish() }
}

const ADD = {
  name: 'add',
  source: 'const sum: number = input.a + input.b\nreturn sum',
  description: 'Add two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
}
const ACT = { name: 'act', source: 'return (await tools.test.act(input)).did', inputSchema: { type: 'object' } }

describe('a saved script', () => {
  it('is a tool with its own schema, whose data is the value of the script', async () => {
    const { hub, save, call } = open()
    const saved = await save(ADD)
    expect(saved).toMatchObject({ name: 'add', savedBy: 'ada', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(await hub.code.saved()).toEqual([saved])
    expect(hub.list().find(({ name }) => name === 'script/add')).toMatchObject({
      kind: 'script',
      group: 'scripts',
      description: 'Add two numbers.',
      capabilities: ['code'],
    })
    expect(await call('script/add', { a: 1, b: 2 })).toMatchObject({ ok: true, data: 3 })
    expect(await call('script_add', { a: 1, b: 2 })).toMatchObject({ tool: 'script/add', data: 3 })
    expect((await call('script/add', { a: 1 })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect((await call('script/add', { a: 1, b: 2, c: 3 })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('takes no arguments without a schema, and returns null without a value', async () => {
    const { save, call } = open()
    await save({ name: 'none', source: 'for (const a of []) a' })
    expect(await call('script/none')).toMatchObject({ ok: true, data: null })
    expect((await call('script/none', { a: 1 })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it.each([
    ['a name with a slash', { ...ADD, name: 'a/b' }, 'name: must be letters'],
    ['an empty name', { ...ADD, name: '' }, 'name: must be letters'],
    ['a name over its limit', { ...ADD, name: 'a'.repeat(57) }, 'at most 56'],
    ['a syntax error', { ...ADD, source: 'const a = 1\nconst = 2' }, 'cannot be compiled in line 2'],
    ['neither source nor script', { name: 'a' }, 'of a source or of a completed script'],
    ['both', { ...ADD, script: 'x' }, 'of a source or of a completed script'],
    ['a schema that is not an object', { ...ADD, inputSchema: { type: 'string' } }, 'must have the type object'],
    [
      'a schema that is none',
      { ...ADD, inputSchema: { type: 'object', properties: { a: { type: 'nummer' } } } },
      'cannot be used',
    ],
    ['a secret', { ...ADD, source: 'return "hunter2-hunter2"' }, 'contains a secret'],
  ])('is refused with %s', async (_, script, message) => {
    const { hub, save, names } = open({ secrets: { key: { value: 'hunter2-hunter2', hosts: ['example.org'] } } })
    await expect(save(script)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringContaining(message),
    })
    expect([await hub.code.saved(), names()]).toEqual([[], []])
  })

  it('replaces nothing', async () => {
    const own = defineTool({
      name: 'script/own',
      description: 'The tool of the owner.',
      input: z.strictObject({}),
      execute: () => 'own',
    })
    const { save, call } = open({ tools: [own] })
    await expect(save({ name: 'own', source: 'return 1' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await save(ADD)
    await expect(save({ ...ADD, source: 'return 1' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await call('script/own')).toMatchObject({ data: 'own' })
    expect(await call('script/add', { a: 1, b: 2 })).toMatchObject({ data: 3 })
  })

  it('is the only tool that a source can offer under its prefix', async () => {
    const { hub, names } = open()
    const tool = defineTool({ name: 'script/x', description: 'X.', input: z.strictObject({}), execute: () => 1 })
    let refused: readonly { readonly why: string }[] = []
    hub.connect({
      name: 'other',
      start(host) {
        refused = host.offer([tool])
      },
    })
    await hub.ready()
    expect(refused).toMatchObject([{ why: expect.stringContaining('reserved for the source code') }])
    expect(names()).toEqual([])
  })

  it('is governed by rules about its name, and its calls by theirs', async () => {
    const { hub, save, call, done } = open()
    await save(ACT)
    expect(await call('script/act', { what: 'a' })).toMatchObject({ data: 'a' })
    const denied = await call('script/act', { what: 'deny' })
    expect(denied).toMatchObject({ ok: false, status: 'denied', error: { code: 'POLICY_DENIED' } })
    expect(denied.error?.message).toMatch(/The script act failed: POLICY_DENIED \(line 1.*1\. test\.act/s)
    hub.setPolicy([{ allow: 'remote' }, { deny: 'script/act' }])
    expect((await call('script/act', { what: 'b' })).error).toMatchObject({ code: 'POLICY_DENIED' })
    expect(done).toEqual(['a'])
  })

  it('fails with an error that says where and which calls were made', async () => {
    const { save, call } = open()
    await save({ name: 'bad', source: "await tools.test.act({ what: 'a' })\nnull.x" })
    const { error } = await call('script/bad')
    expect(error).toMatchObject({ code: 'TOOL_FAILED' })
    expect(error?.message).toMatch(/SCRIPT_ERROR \(line 2, column \d+\).*1\. test\.act \(line 1\): ok/s)
  })

  it('is suspended like any script, and continues after it was removed', async () => {
    const { hub, save, call, done } = open()
    await save(ACT)
    const { ok, data, meta } = await call('script/act', { what: 'ask a' })
    const suspended = data as ScriptResult
    expect([ok, suspended.status]).toEqual([true, 'suspended'])
    expect(meta.notices).toEqual([expect.stringContaining(`core/code.wait: ${suspended.script}`)])
    await hub.code.removeSaved('act', { by: 'ada' })
    for (const id of suspended.approvals ?? []) await hub.approvals.answer(id, { decision: 'allow', by: 'ada' })
    const waited = await call('core/code.wait', { script: suspended.script, timeoutMs: 60_000 })
    expect(waited.data).toMatchObject({ status: 'completed', value: 'ask a' })
    expect(done).toEqual(['ask a'])
  })

  it('can be made of a completed script that was suspended, and of no other', async () => {
    const { hub, save, call, done } = open()
    const code = "return (await tools.test.act({ what: 'ask a' })).did"
    const { script, approvals } = (await call('core/code.run', { code })).data as ScriptResult
    await expect(save({ name: 'a', script })).rejects.toMatchObject({ code: 'CONFLICT' })
    for (const id of approvals ?? []) await hub.approvals.answer(id, { decision: 'allow', by: 'ada' })
    await call('core/code.wait', { script, timeoutMs: 60_000 })
    expect(await save({ name: 'a', script })).toMatchObject({ source: code })
    await expect(save({ name: 'b', script: 'nothing' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(((await call('script/a')).data as ScriptResult).status).toBe('suspended')
    expect(done).toEqual(['ask a'])
  })

  it('is not a tool of scripts', async () => {
    const { save, call } = open()
    await save(ADD)
    const { data } = await call('core/code.run', { code: "Object.keys(tools).includes('script')" })
    expect(data).toMatchObject({ value: false })
  })

  it('is removed with its tool, while a call under way ends', async () => {
    const { hub, save, call, names, begun, finish } = open()
    await save(ACT)
    const running = call('script/act', { what: 'slow' })
    await begun
    await hub.code.removeSaved('act', { by: 'ada' })
    expect(names()).toEqual([])
    finish()
    expect(await running).toMatchObject({ ok: true, data: 'slow' })
    expect((await call('script/act', { what: 'a' })).error).toMatchObject({ code: 'TOOL_NOT_FOUND' })
    await expect(hub.code.removeSaved('act', { by: 'ada' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is refused if its stored source is another one than was saved', async () => {
    const { hub, folder, save, call } = open()
    await save(ADD)
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(join(folder, 'store', 'store.db'), { timeout: 1_000 })
    database.exec("UPDATE saved_scripts SET source = 'return 666' WHERE name = 'add'")
    database.close()
    const { error } = await call('script/add', { a: 1, b: 2 })
    expect(error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('is not the one that was saved') })
    await hub.code.removeSaved('add', { by: 'ada' })
    await save(ADD)
    expect(await call('script/add', { a: 1, b: 2 })).toMatchObject({ data: 3 })
  })

  it('is not a tool while the owner has turned off scripts', async () => {
    const { hub, folder, save } = open()
    await save(ADD)
    await hub.close()
    const other = open({ code: { enabled: false } }, folder)
    await other.hub.ready()
    expect(other.names()).toEqual([])
    expect((await other.call('script/add', { a: 1, b: 2 })).error).toMatchObject({ code: 'TOOL_NOT_FOUND' })
  })
})

describe('saved scripts of several hubs on one store', () => {
  it('are there when a hub is ready, and are called by name as soon as they are saved', async () => {
    const one = open()
    const two = open({}, one.folder)
    await one.save(ADD)
    expect(await two.call('script/add', { a: 1, b: 2 })).toMatchObject({ data: 3 })
    const three = open({}, one.folder)
    await three.hub.ready()
    expect([two.names(), three.names()]).toEqual([['script/add'], ['script/add']])
    await one.hub.code.removeSaved('add', { by: 'ada' })
    expect((await three.call('script/add', { a: 1, b: 2 })).error).toMatchObject({ code: 'TOOL_NOT_FOUND' })
    expect(three.names()).toEqual([])
  })

  it('appear and disappear in lists of those who follow them', async () => {
    const one = open()
    const two = open({}, one.folder)
    await two.hub.code.followSaved()
    let changes = 0
    two.hub.onToolsChanged(() => changes++)
    await one.save(ADD)
    await expect.poll(two.names).toEqual(['script/add'])
    await one.hub.code.removeSaved('add', { by: 'ada' })
    await expect.poll(two.names).toEqual([])
    expect(changes).toBe(2)
  })

  it('are not run with the pin of an earlier source', async () => {
    const one = open()
    await one.save(ADD)
    const two = open({}, one.folder)
    await two.hub.ready()
    await one.hub.code.removeSaved('add', { by: 'ada' })
    await one.save({ ...ADD, source: 'return input.a - input.b' })
    expect((await two.call('script/add', { a: 1, b: 2 })).error).toMatchObject({ code: 'CONFLICT' })
    expect(await two.call('script/add', { a: 1, b: 2 })).toMatchObject({ data: -1 })
  })

  it('make no store for a hub that only looks for them', async () => {
    const { hub, names } = open()
    await hub.ready()
    expect([names(), await hub.code.saved(), await hub.code.list()]).toEqual([[], [], []])
  })
})
