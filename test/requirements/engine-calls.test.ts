import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadBuiltinTools } from '@tool-hub/library/builtin-tools'
import { describe, expect, it } from 'vitest'
import { ZodType, z } from 'zod'
import {
  defineTool,
  type HubOptions,
  type ToolResultEvent,
  toToolResultEvent,
} from '../../packages/library/src/index.ts'
import { eventually } from '../support/eventually.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const EXEC: HubOptions = { policy: [{ allow: 'exec' }] }

/** A tool that answers with the name of who brought it. */
const reader = (name: string, from: string) =>
  defineTool({
    name,
    description: `Comes from ${from}.`,
    input: z.strictObject({ path: z.string() }),
    execute: () => from,
  })

describe('the tool system of an engine', () => {
  it('built-in, plugin and business tools have one protocol: schema, execute, context, one cut', async () => {
    const long = (name: string) =>
      defineTool({
        name,
        description: 'Returns a long text, and shows that it has a context.',
        input: z.strictObject({ chars: z.int() }),
        execute: ({ chars }, ctx) => `${ctx.signal.aborted} ${'x'.repeat(chars)}`,
      })
    const { call, text } = realHub(
      { tools: [long('business.long')], plugins: [{ name: 'plugin', tools: [long('plugin.long')] }] },
      { 'a.txt': 'x\n'.repeat(50_000) },
    )
    for (const tool of ['business.long', 'plugin.long']) {
      expect((await call(tool, { chars: 'many' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
      const shown = await text(tool, { chars: 90_000 })
      expect(shown.length).toBeLessThanOrEqual(30_000)
      expect(shown).toMatch(/^false x+[^x]+characters cut/)
    }
    expect((await call('read', { path: 1 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await text('read', { path: 'a.txt' })).length).toBeLessThanOrEqual(30_000)
  })

  it('built-in tools give way to those of plugins, and these to the tools of the caller', async () => {
    const plugins = [{ name: 'plugin', tools: [reader('read', 'plugin'), reader('greet', 'plugin')] }]
    const files = { 'a.txt': 'built-in' }
    expect(await realHub({}, files).text('read', { path: 'a.txt' })).toContain('built-in')
    expect(await realHub({ plugins }, files).text('read', { path: 'a.txt' })).toBe('plugin')
    const tools = [reader('read', 'caller'), reader('greet', 'caller')]
    const all = realHub({ plugins, tools }, files)
    expect(await all.text('read', { path: 'a.txt' })).toBe('caller')
    expect(await all.text('greet', { path: 'a.txt' })).toBe('caller')
  })

  it('hooks before change the input, hooks after the output, then tool-result is emitted', async () => {
    const steps: string[] = []
    const results: ToolResultEvent[] = []
    const rewriteInput = (order: number, path: string) => ({
      order,
      before: (call: { input: unknown }) => {
        steps.push(`before ${JSON.stringify(call.input)}`)
        return { input: { path } }
      },
    })
    const markOutput = (order: number, mark: string) => ({
      order,
      after: (_: unknown, { data }: { data?: unknown }) => {
        const given = data as { path: string; text: string; bytes: number }
        steps.push(`after ${given.text}`)
        return { data: { ...given, text: `${given.text}${mark}` } }
      },
    })
    const hooks = [
      rewriteInput(1, 'b.txt'),
      rewriteInput(2, 'c.txt'),
      markOutput(1, '!'),
      markOutput(2, '?'),
    ] as HubOptions['hooks']
    const { hub, data } = realHub({ hooks }, { 'a.txt': 'A', 'b.txt': 'B', 'c.txt': 'C' })
    hub.onEvent((event) => {
      const result = toToolResultEvent(event)
      if (result) results.push(result)
    })
    expect(await data('core/fs.readText', { path: 'a.txt' })).toMatchObject({ text: 'C!?' })
    expect(steps).toEqual(['before {"path":"a.txt"}', 'before {"path":"b.txt"}', 'after C', 'after C!'])
    expect(results).toMatchObject([
      { type: 'tool-result', toolName: 'core/fs.readText', output: { path: 'c.txt', text: 'C!?' }, isError: false },
    ])
  })

  it('the hooks are beforeToolCall(name, input) and afterToolCall(name, input, output), and a typo is an error', async () => {
    const seen: unknown[] = []
    const hooks = {
      beforeToolCall(name: string, input: unknown) {
        seen.push([name, input])
        return { path: 'b.txt' }
      },
      afterToolCall(name: string, input: unknown, output: unknown) {
        seen.push([name, input, output])
        return { ...(output as object), text: 'changed' }
      },
    }
    const files = { 'a.txt': 'A', 'b.txt': 'B' }
    for (const options of [{ hooks: [hooks] }, { plugins: [{ name: 'guard', hooks }] }] as const) {
      const { data } = realHub(options, files)
      expect(await data('core/fs.readText', { path: 'a.txt' })).toMatchObject({ path: 'b.txt', text: 'changed' })
      const input = { path: 'b.txt' }
      expect(seen.splice(0)).toMatchObject([
        ['core/fs.readText', { path: 'a.txt' }],
        ['core/fs.readText', input, { path: 'b.txt', text: 'B' }],
      ])
    }
    const mistyped = { beforeToolCal() {} } as never
    expect(() => realHub({ hooks: [mistyped] })).toThrow('Unknown hook "beforeToolCal".')
    expect(() => realHub({ plugins: [{ name: 'guard', hooks: mistyped }] })).toThrow('Unknown hook')
  })

  it('the input of every built-in tool is a Zod schema', async () => {
    const builtinTools = await loadBuiltinTools()
    expect(builtinTools.length).toBeGreaterThan(20)
    for (const tool of builtinTools) expect(tool.input, tool.name).toBeInstanceOf(ZodType)
  })

  it('the context of a call has onClarificationRequest and abortSignal', async () => {
    const { call, data } = realHub()
    const onClarificationRequest = async ({ question }: { question: string }) => `to ${question}`
    expect(await data('clarify', { question: 'Which?' }, { onClarificationRequest })).toMatchObject({
      answer: 'to Which?',
    })
    const controller = new AbortController()
    let isTold = false
    const stopped = await call(
      'clarify',
      { question: 'Which?' },
      {
        abortSignal: controller.signal,
        onClarificationRequest: (_, { signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              isTold = true
            })
            controller.abort()
          }),
      },
    )
    expect([stopped.status, isTold]).toEqual(['aborted', true])
  })

  it('a tool that waits does not block the others', async () => {
    const { call, data } = realHub(EXEC)
    const waiting = data('bash', { command: 'until [ -e go.txt ]; do sleep 0.05; done; cat go.txt' })
    expect((await call('core/fs.writeText', { path: 'go.txt', text: 'gone on' })).ok).toBe(true)
    expect(await waiting).toMatchObject({ stdout: 'gone on', exitCode: 0 })
  })

  it('files and commands are held in the workspace, and commands by a list', async () => {
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'secret.txt'), 'the secret')
    const { call, data } = realHub(EXEC)
    expect((await call('read', { path: join(outside, 'secret.txt') })).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    const peek = await call('bash', { command: `cat ${outside}/secret.txt; echo x > ${outside}/new.txt` })
    expect(JSON.stringify(peek)).not.toContain('the secret')
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
    expect(await data('bash', { command: 'echo in > in.txt; cat in.txt' })).toMatchObject({ stdout: 'in\n' })
    const listed = realHub({ policy: [{ allow: 'exec', on: ['echo *'] }] })
    expect((await listed.call('bash', { command: 'echo hi' })).ok).toBe(true)
    for (const command of ['id', 'echo hi; id', 'echo $(id)', 'echo hi | sh'])
      expect((await listed.call('bash', { command })).error?.code, command).toBe('POLICY_DENIED')
  })

  it('every kind of tool can be cancelled while it works', async () => {
    const { hub, root } = realHub(EXEC)
    const controller = new AbortController()
    const call = hub.callDynamic(
      'bash',
      { command: 'touch begun; sleep 600; touch ended' },
      { signal: controller.signal },
    )
    await eventually(() => expect(existsSync(join(root, 'begun'))).toBe(true))
    controller.abort()
    expect((await call).status).toBe('aborted')
    expect(existsSync(join(root, 'ended'))).toBe(false)
    const gone = { signal: AbortSignal.abort() }
    for (const [tool, input] of [
      ['read', { path: 'begun' }],
      ['write', { path: 'new.txt', content: 'x' }],
      ['grep', { pattern: 'x' }],
    ] as const)
      expect((await hub.callDynamic(tool, input, gone)).status, tool).toBe('aborted')
    expect(existsSync(join(root, 'new.txt'))).toBe(false)
  })

  it('reading, writing, executing and the network are permitted one by one', async () => {
    const calls: Record<string, [string, object]> = {
      'read:fs': ['read', { path: 'a.txt' }],
      'write:fs': ['write', { path: 'new.txt', content: 'x' }],
      exec: ['bash', { command: 'true' }],
      network: ['core/http.fetchText', { url: 'http://example.org/' }],
    }
    const all = Object.keys(calls)
    for (const permitted of all) {
      const policy = all.map((capability) => (capability === permitted ? { allow: capability } : { deny: capability }))
      const { call } = realHub({ policy, sandbox: { network: ['example.org'] } }, { 'a.txt': 'a' })
      for (const [capability, [tool, input]] of Object.entries(calls)) {
        const { status, error } = await call(tool, input, { dryRun: true })
        expect([capability, status, error?.code]).toEqual(
          capability === permitted ? [capability, 'ok', undefined] : [capability, 'denied', 'POLICY_DENIED'],
        )
      }
    }
    const { call } = realHub(EXEC, { 'a.txt': 'a' })
    expect((await call('write', { path: 'b.txt', content: 'b' }, { grants: ['read:fs'] })).status).toBe('denied')
    expect((await call('read', { path: 'a.txt' }, { grants: ['read:fs'] })).ok).toBe(true)
  })

  it('the record of a risky tool says who, when, with which arguments and the hash of the result', async () => {
    const { call, record } = realHub(EXEC)
    const { callId } = await call('bash', { command: 'echo hi' }, { caller: 'agent-7' })
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    const line = (await record('logs/tools.jsonl')).find((entry) => entry.callId === callId)
    expect(line).toMatchObject({ caller: 'agent-7', args: { command: 'echo hi' }, argsHash: hash, resultHash: hash })
    expect(Math.abs(Date.now() - Date.parse(line!.time as string))).toBeLessThan(600_000)
  })

  it('a run has a budget of calls and of time', async () => {
    const calls = realHub({ limits: { run: { calls: 2 } } }, { 'a.txt': 'a' })
    const read = () => calls.call('read', { path: 'a.txt' })
    expect([(await read()).ok, (await read()).ok]).toEqual([true, true])
    expect((await read()).error).toMatchObject({ code: 'BUDGET_EXCEEDED', fix: { key: 'limits.run.calls' } })
    const time = realHub({ ...EXEC, limits: { run: { wallMs: 300 } } })
    const first = await time.call('bash', { command: 'sleep 600' })
    expect(first.ok).toBe(false)
    expect((await time.call('read', { path: 'a.txt' })).error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      fix: { key: 'limits.run.time' },
    })
  })
})
