import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { toToolDefinitions } from '../../../adapters/src/tool-definitions.ts'
import type { CallEvent } from '../../../core/src/events.ts'
import { fromAgentTool } from '../../../core/src/from-agent-tool.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import { definePlugin, type Plugin } from '../../../core/src/plugin.ts'
import { toAgentToolResult, toCoreResult, toExecutorResult, toSummaryResult } from '../../../core/src/result-formats.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'

const open: TestHub[] = []
function hubOf(options: HubOptions = {}): TestHub {
  const hub = testHub(options) as TestHub
  open.push(hub)
  return hub
}
afterEach(async () => {
  for (const hub of open.splice(0)) await hub.close({ abort: true })
})

const greet = (says: string, name = 'text.greet') =>
  defineTool({
    name,
    title: 'Greet',
    description: 'Greets somebody by name, for tests.',
    input: z.strictObject({ name: z.string() }),
    category: 'read',
    tags: ['friendly'],
    version: '2.0.0',
    execute: ({ name }) => `${says} ${name}`,
  })

describe('the tools of a hub', () => {
  it('come from built-ins, then plugins, then the caller, who wins', async () => {
    const builtin = 'core/util.time.now'
    const plugin = definePlugin({
      name: 'p',
      tools: [greet('plugin'), { ...greet('plugin', builtin), override: true }],
    })
    const hub = hubOf({ plugins: [plugin], tools: [greet('caller')] })
    expect((await hub.callDynamic('text.greet', { name: 'x' })).data).toBe('caller x')
    expect((await hub.callDynamic(builtin, { name: 'x' })).data).toBe('plugin x')
    expect((await hub.callDynamic('core/util.hash.sha256Text', { text: '' })).ok).toBe(true)
  })

  it('take the place of a built-in one only when they say so, and have its capabilities too', async () => {
    const read = greet('own', 'core/fs.readText')
    expect(() => hubOf({ tools: [read] })).toThrow(/core\/fs\.readText is the name of a built-in tool/)
    const hub = hubOf({ tools: [{ ...read, override: true }], policy: [{ deny: 'read:fs' }] })
    expect(hub.list().find(({ name }) => name === 'core/fs.readText')?.description).toBe(read.description)
    expect((await hub.callDynamic('core/fs.readText', { name: 'x' })).error?.code).toBe('POLICY_DENIED')
    const plugin = definePlugin({ name: 'p', tools: [read] })
    const without = hubOf({ plugins: [plugin] })
    expect(without.check()).toContainEqual(expect.objectContaining({ level: 'error', source: 'plugin p' }))
    expect(without.registry.get('core/fs.readText')?.description).not.toBe(read.description)
  })

  it('never share a name, whichever way it is written', () => {
    const hub = hubOf({ tools: [greet('a', 'a.b')] })
    expect(() => hub.registry.register(greet('b', 'a_b'))).toThrow(/a_b is taken by the tool a\.b/)
    expect(() => hub.registry.register(greet('b', 'a.b'))).toThrow(/taken/)
  })

  it('are refused with the reason when they are not tools', () => {
    const hub = hubOf()
    const wrong: unknown[] = [
      {},
      { ...greet('a'), name: '' },
      { ...greet('a'), name: 'no spaces' },
      { ...greet('a'), execute: 1 },
      { ...greet('a'), input: undefined },
    ]
    for (const tool of wrong) expect(() => hub.registry.register(tool as never)).toThrow(/tool/)
    expect(() => hub.registry.register({ ...greet('a'), capabilities: ['read:sf'] } as never)).toThrow(
      /Did you mean read:fs/,
    )
  })

  it('are pure without capabilities, also where no `defineTool` has filled them in', () => {
    const { capabilities: _, ...plain } = greet('hi')
    const hub = hubOf({ tools: [plain as never] })
    expect(hub.list().find(({ name }) => name === 'text.greet')?.capabilities).toEqual([])
  })

  it('can be registered, found, listed and shown to a model in its own form', () => {
    const hub = hubOf({ tools: [greet('hi')] })
    expect(hub.registry.get('text.greet')?.version).toBe('2.0.0')
    expect(hub.registry.get('nobody')).toBeUndefined()
    expect(hub.registry.list().map(({ name }) => name)).toContain('text.greet')
    expect(hub.registry.listForLLM().find(({ name }) => name === 'text_greet')).toEqual({
      name: 'text_greet',
      description: 'Greets somebody by name, for tests.',
      parameters: expect.objectContaining({ type: 'object', required: ['name'], additionalProperties: false }),
    })
    expect(JSON.stringify(hub.registry.listForLLM())).toBe(JSON.stringify(hub.registry.listForLLM()))
    expect(hub.registry.listForLLM({ dialect: 'coding' }).map(({ name }) => name)).toContain('clarify')
  })

  it('are visible by profile, allow and deny, and a hidden one cannot be called', async () => {
    const hub = hubOf({
      tools: [greet('hi')],
      visibility: { allow: ['group:util', 'text.greet'], deny: ['core/util.time.now'] },
    })
    const names = hub.list().map(({ name }) => name)
    expect(names).toContain('core/util.hash.sha256Text')
    expect(names).not.toContain('core/util.time.now')
    expect(hub.list({ hidden: true }).find(({ name }) => name === 'core/util.time.now')).toMatchObject({
      visible: false,
      why: expect.stringContaining('deny'),
    })
    expect((await hub.callDynamic('core/util.time.now', {})).error?.code).toBe('TOOL_DISABLED')
    expect(hubOf({ visibility: { profile: 'minimal' } }).list()).toMatchObject([{ name: 'core/session.status' }])
  })

  it('of a list that names nobody are doubted, with the nearest name', () => {
    const hub = hubOf({
      tools: [greet('hi')],
      visibility: { deny: ['text.gret'] },
      policy: [{ allow: 'text.grete' }, { deny: 'group:nothing' }],
    })
    const warnings = hub.check().map(({ level, message }) => `${level}: ${message}`)
    expect(warnings.join('\n')).toMatch(/error: .*text\.grete/)
    expect(warnings.join('\n')).toMatch(/text\.gret/)
    expect(warnings.join('\n')).toMatch(/group:nothing/)
  })
})

describe('check', () => {
  it.each([
    ['a link to itself', 'loop'],
    ['a name that is too long', 'x'.repeat(300)],
    ['a name with a null byte', 'a\0b'],
  ])('reports a root that cannot be opened as no folder: %s', (_, name) => {
    const folder = temporaryFolder('roots')
    symlinkSync('loop', join(folder, 'loop'))
    const found = hubOf({ sandbox: { root: join(folder, name) } }).check()
    expect(found).toContainEqual(expect.objectContaining({ message: expect.stringContaining('is not a folder') }))
  })

  it('finds rules that a guard makes void, roots that are no folders, and lists that hide everything', () => {
    const void_ = hubOf({
      policy: [{ allow: 'network', on: 'https://api.github.com/**' }],
      sandbox: { root: '/no/such/folder', network: ['example.org'] },
      visibility: { allow: ['group:messaging'], deny: ['message'] },
    })
    const messages = void_
      .check()
      .map(({ message }) => message)
      .join('\n')
    expect(messages).toMatch(/sandbox\.network does not include api\.github\.com/)
    expect(messages).toMatch(/is not a folder/)
    expect(messages).toMatch(/No tool is visible/)
    expect(
      hubOf({
        policy: [{ allow: 'network', on: 'https://api.github.com/**' }],
        sandbox: { network: ['*.github.com'] },
      }).check(),
    ).toEqual([])
  })
})

describe('plugins', () => {
  it('bring tools, hooks and a set-up that every call waits for', async () => {
    const seen: CallEvent[] = []
    const plugin = definePlugin({
      name: 'slow starter',
      hooks: { before: () => ({ input: { name: 'hooked' } }) },
      async setup(api) {
        await new Promise((resolve) => setImmediate(resolve))
        api.registerTool(greet('set up', 'text.late'))
        api.onEvent((event) => seen.push(event))
      },
    })
    const hub = hubOf()
    hub.use(plugin)
    expect((await hub.callDynamic('text.late', { name: 'x' })).data).toBe('set up hooked')
    expect(seen.at(-1)?.type).toBe('call-ended')
  })

  it('that guard something and fail are named, and no call passes without them', async () => {
    const setup = () => Promise.reject(new Error('no bite'))
    const broken: Plugin[] = [
      { name: 'guard-dog', setup, required: true },
      { name: 'guard-dog', setup, hooks: { before: () => {} } },
      {
        name: 'guard-dog',
        setup(api) {
          api.addHooks({ before: () => {} })
          return setup()
        },
      },
    ]
    for (const plugin of broken) {
      const hub = hubOf({ plugins: [plugin] })
      expect((await hub.callDynamic('core/util.time.now', {})).error?.message).toMatch(/guard-dog.*no bite/)
    }
    const throwing = definePlugin({
      name: 'thrower',
      required: true,
      setup() {
        throw new Error('immediately')
      },
    })
    expect(() => hubOf({ plugins: [throwing] })).toThrow(/thrower/)
  })

  it('that fail and guard nothing are named, and take nothing but their own tools down', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const half = definePlugin({
      name: 'half',
      tools: [greet('declared', 'half.declared')],
      async setup(api) {
        api.registerTool(greet('registered', 'half.registered'))
        await Promise.reject(new Error('no power'))
      },
    })
    const atOnce = definePlugin({
      name: 'at-once',
      setup() {
        throw new Error('no way')
      },
    })
    const hub = hubOf({
      plugins: [half, atOnce, definePlugin({ name: 'whole', tools: [greet('whole', 'whole.one')] })],
    })
    expect((await hub.callDynamic('whole.one', { name: 'x' })).data).toBe('whole x')
    for (const name of ['half.declared', 'half.registered'])
      expect((await hub.callDynamic(name, { name: 'x' })).error?.message).toMatch(/plugin half .*no power/)
    expect(hub.check().map(({ source }) => source)).toEqual(expect.arrayContaining(['plugin half', 'plugin at-once']))
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/at-once.*no way/), 'ToolHubWarning')
    warn.mockRestore()
  })

  it('are refused with a key that no plugin has, so that a mistyped guard is not lost', () => {
    const guard = { decide: () => 'deny' as const }
    const refusal = (plugin: object) => {
      try {
        testHub({ plugins: [plugin as never] })
      } catch (error) {
        return error
      }
    }
    expect(refusal({ name: 'p', hook: guard })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The plugin p has no option "hook".',
      fix: { hint: 'Did you mean hooks?' },
    })
    expect(refusal(definePlugin({ name: 'p', before: () => {} }))).toMatchObject({
      message: 'The plugin p has no option "before".',
      fix: { hint: expect.stringContaining('name, tools, hooks, setup, required, close') },
    })
  })

  it('may be instances of classes, which have fields of their own', async () => {
    class Counter {
      readonly name = 'counter'
      closed = 0
      close(): void {
        this.closed++
      }
    }
    const plugin = new Counter()
    await testHub({ plugins: [plugin] }).close()
    expect(plugin.closed).toBe(1)
  })

  it('are closed with the hub', async () => {
    let closed = 0
    const hub = testHub({ plugins: [{ name: 'p', close: () => void closed++ }] })
    await hub.close()
    expect(closed).toBe(1)
  })
})

describe('other documents’ forms', () => {
  const agentTool = {
    name: 'read',
    description: 'Reads a file, in the form of S3, for tests.',
    parameters: {
      type: 'object',
      properties: { file_path: { type: 'string' } },
      required: ['file_path'],
      additionalProperties: false,
    },
    async execute(
      toolCallId: string,
      params: unknown,
      signal?: AbortSignal,
      onUpdate?: (update: { content: { type: 'text'; text: string }[] }) => void,
    ) {
      onUpdate?.({ content: [{ type: 'text', text: 'reading' }] })
      const { file_path } = params as { file_path: string }
      if (file_path === 'broken') throw new Error('unreadable')
      return {
        content: [
          { type: 'text' as const, text: `MEDIA:${file_path}` },
          { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
        ],
        details: { path: file_path, called: toolCallId.length > 0, abortable: signal !== undefined },
      }
    },
  }

  it('an S3 AgentTool is accepted and governed: it may do nothing until its owner says what it touches', async () => {
    const ungoverned = hubOf({ tools: [fromAgentTool(agentTool)] })
    expect((await ungoverned.callDynamic('read', { file_path: 'a.png' })).error?.code).toBe('POLICY_DENIED')
    const hub = hubOf({ tools: [fromAgentTool(agentTool, { capabilities: [] })] })
    const result = await hub.callDynamic('read', { file_path: 'a.png' })
    expect(result.content).toEqual([
      { type: 'text', text: 'MEDIA:a.png' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
    ])
    expect(result.data).toMatchObject({ details: { path: 'a.png', called: true, abortable: true } })
    expect((await hub.callDynamic('read', { file: 'a.png' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('a plugin registers an AgentTool as S3 shows it', async () => {
    const hub = hubOf({
      plugins: [{ name: 'p', setup: (api) => api.registerTool(agentTool) }],
      policy: [{ allow: 'read' }],
    })
    expect((await hub.callDynamic('read', { file_path: 'x' })).ok).toBe(true)
  })

  it('a tool that touches no file works in a hub without records and without a root', async () => {
    const hub = hubOf({
      plugins: [{ name: 'p', setup: (api) => api.registerTool(agentTool) }],
      tools: [
        defineTool({
          name: 'a.command',
          description: 'x',
          input: {},
          capabilities: ['exec'],
          execute: (_, ctx) => ctx.exec.start({ command: 'true', timeoutMs: 5_000 }),
        }),
      ],
      policy: [{ allow: 'read' }, { allow: 'a.command' }],
      runs: false,
    })
    expect((await hub.callDynamic('read', { file_path: 'x' })).ok).toBe(true)
    expect((await hub.callDynamic('read', { file_path: 'x' }, { dryRun: true })).ok).toBe(true)
    expect((await hub.explain('read', { file_path: 'x' })).effect).toBe('allow')
    expect((await hub.callDynamic('a.command', {})).error?.code).toBe('SANDBOX_UNAVAILABLE')
  })

  it('tool definitions of S3 call down the road: updates, errors as results, aborts thrown', async () => {
    const log: string[] = []
    const hub = hubOf({ tools: [fromAgentTool(agentTool, { capabilities: [] })] })
    const read = toToolDefinitions(hub, { log: (line) => log.push(line) }).find(({ name }) => name === 'read')!
    expect(read.label).toBe('read')
    const updates: unknown[] = []
    const result = await read.execute('id-1', { file_path: 'a.png' }, (update) => updates.push(update))
    expect(updates).toEqual([{ content: [{ type: 'text', text: 'reading' }] }])
    expect(result.content[1]).toEqual({ type: 'image', data: 'aGk=', mimeType: 'image/png' })
    const failed = await read.execute('id-2', { file_path: 'broken' })
    expect(failed.details).toMatchObject({ status: 'error', tool: 'read' })
    expect(log[0]).toMatch(/^\[tools\] read failed: /)
    await expect(read.execute('id-3', { file_path: 'x' }, undefined, undefined, AbortSignal.abort())).rejects.toThrow(
      /stopped/,
    )
  })

  it('results have the forms of S0, S2, S3 and S4', async () => {
    const hub = hubOf({ tools: [greet('hi')] })
    const good = await hub.callDynamic('text.greet', { name: 'x' })
    const bad = await hub.callDynamic('text.greet', {})
    expect(toCoreResult(good)).toEqual({ ok: true, result: 'hi x', evidence: good.evidence })
    expect(toCoreResult(bad)).toEqual({
      ok: false,
      error: { kind: 'INPUT_SCHEMA_INVALID', ...bad.error },
      evidence: bad.evidence,
    })
    expect(toExecutorResult(good, 'call-9')).toEqual({ tool_call_id: 'call-9', content: 'hi x', is_error: false })
    expect(toExecutorResult(bad)).toMatchObject({
      is_error: true,
      content: expect.stringContaining('INPUT_SCHEMA_INVALID'),
    })
    expect(toAgentToolResult(good)).toEqual({ content: [{ type: 'text', text: 'hi x' }], details: 'hi x' })
    expect(toAgentToolResult(bad).details).toMatchObject({ status: 'error', tool: 'text.greet' })
    expect(toSummaryResult(good)).toEqual({ ok: true, summary: 'hi x', data: 'hi x', artifacts: [] })
    expect(toSummaryResult(bad)).toMatchObject({ ok: false, error: { code: 'INPUT_SCHEMA_INVALID' } })
  })

  it('S0’s CoreToolsConfig is taken as it is', async () => {
    const hub = hubOf({
      core: {
        sandboxRoot: '.',
        maxReadBytes: 1_000,
        allowedHosts: ['api.github.com'],
        defaultTimeoutMs: 50,
        httpUserAgent: 'mine/1',
      },
    })
    expect((await hub.callDynamic('core/util.time.now', {})).ok).toBe(true)
  })
})

describe('options that nobody reads', () => {
  it('are refused with the nearest name, so that a typo never loosens anything', () => {
    expect(() => hubOf({ polcy: [] } as never)).toThrow(/no option "polcy"/)
    expect(() => hubOf({ limits: { timeout: '5s' } } as never)).toThrow(/limits has no option "timeout"/)
    expect(() => hubOf({ sandbox: { netwrok: [] } } as never)).toThrow(/netwrok/)
  })
})

describe('hosts and ranges that can never match', () => {
  it.each<[string, HubOptions]>([
    ['of the sandbox', { sandbox: { network: ['127.0.0.1:80'] } }],
    ['of the core tools', { core: { allowedHosts: ['https://example.org'] } }],
    ['of a secret', { secrets: { key: { value: 'a long secret', hosts: ['example.org/path'] } } }],
    ['that are opened', { sandbox: { privateRanges: ['10.0.0.0/x'] } }],
    ['that are closed', { sandbox: { blockedRanges: ['10.0.0'] } }],
  ])('are refused when the hub is created: %s', (_, options) => {
    expect(() => hubOf(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describe('what a hub shows of itself', () => {
  it('metrics as Prometheus text, by tool and status', async () => {
    const hub = hubOf({ tools: [greet('hi')] })
    await hub.callDynamic('text.greet', { name: 'x' })
    await hub.callDynamic('text.greet', {})
    const text = await hub.metrics()
    expect(text).toContain('tool_hub_calls_total{tool="text.greet",status="ok"} 1')
    expect(text).toContain('tool_hub_calls_total{tool="text.greet",status="error"} 1')
    expect(text).toContain('tool_hub_calls_in_flight 0')
  })

  it('events of every call, to every listener, until it stops', async () => {
    const hub = hubOf({ tools: [greet('hi')] })
    const types: string[] = []
    const stop = hub.onEvent(({ type }) => types.push(type))
    await hub.callDynamic('text.greet', { name: 'x' })
    stop()
    await hub.callDynamic('text.greet', { name: 'x' })
    expect(types).toEqual(['call-started', 'call-ended'])
  })

  it('its end: calls under way are waited for, or stopped when asked to', async () => {
    let release: (value: string) => void = () => {}
    const slow = defineTool({
      name: 'text.slow',
      description: 'Waits to be released, for tests.',
      input: z.strictObject({}),
      execute: (_, ctx) =>
        new Promise<string>((resolve, reject) => {
          release = resolve
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
        }),
    })
    const patient = testHub({ tools: [slow] })
    const waited = patient.call(slow, {})
    await new Promise((resolve) => setImmediate(resolve))
    const closing = patient.close()
    release('done')
    await closing
    expect((await waited).data).toBe('done')
    const abrupt = testHub({ tools: [slow] })
    const stopped = abrupt.call(slow, {})
    await new Promise((resolve) => setImmediate(resolve))
    await abrupt.close({ abort: true })
    expect((await stopped).status).toBe('aborted')
  })
})

describe('a tool that reports progress in a wrong form', () => {
  it('fails with the name of the method', async () => {
    const loud = defineTool({
      name: 'text.loud',
      description: 'Reports progress, for tests.',
      input: z.strictObject({}),
      execute: (_, ctx) => ctx.progress({ percent: 50 } as never),
    })
    const hub = testHub({ tools: [loud] })
    const { error } = await hub.call(loud, {})
    await hub.close()
    expect(error?.message).toContain('ctx.progress takes a string or a list of blocks of type text,')
  })
})
