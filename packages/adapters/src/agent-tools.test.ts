import { afterAll, describe, expect, it } from 'vitest'
import { modelTools } from '../../../test/support/model-tools.ts'
import type { ToolResult } from '../../core/src/call.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { type BaseContext, defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { type AgentToolOptions, toAgentTools } from './agent-tools.ts'
import { toToolDefinitions } from './tool-definitions.ts'

const hubs: TestHub[] = []
afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.close()))
})

function hubOf(hubOptions: HubOptions = {}): TestHub {
  const hub = testHub({ ...modelTools().options, ...hubOptions } as HubOptions) as TestHub
  hubs.push(hub)
  return hub
}

function toolOf(name: string, options: AgentToolOptions = {}, hubOptions?: HubOptions) {
  return toAgentTools(hubOf(hubOptions), options).find((tool) => tool.name === name)!
}

describe('agent tools', () => {
  it('have a label and parameters, and answer with content and details', async () => {
    const add = toolOf('math_add')
    expect(add).toMatchObject({ label: 'math_add', description: 'Add two numbers.', parameters: { type: 'object' } })
    expect(await add.execute('1', { a: 1, b: 2 })).toEqual({
      content: [{ type: 'text', text: 'sum 3' }],
      details: { sum: 3 },
    })
    const { content } = await toolOf('screen_shot').execute('2', {})
    expect(content[1]).toMatchObject({ type: 'image', mimeType: 'image/png' })
  })

  it('give failures to the model and to the log, and throw what was stopped', async () => {
    const log: string[] = []
    const options = { log: (line: string) => log.push(line) }
    const failed = await toolOf('build_run', options).execute('1', {})
    expect(failed.details).toEqual({ status: 'error', tool: 'build_run', error: 'make ended with 2.' })
    expect(log).toEqual(['[tools] build_run failed: make ended with 2.'])
    const stop = new AbortController()
    const updates: unknown[] = []
    const waiting = toolOf('wait_forever', options).execute('2', {}, stop.signal, (update) => {
      updates.push(update)
      stop.abort()
    })
    await expect(waiting).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    expect(updates).toEqual([{ content: [{ type: 'text', text: 'waiting' }] }])
    expect(log).toHaveLength(1)
  })

  it('are not harmed by a listener that fails', async () => {
    const log: string[] = []
    const told = defineTool({
      name: 'a.telling',
      description: 'x',
      input: {},
      execute: (_, ctx) => {
        ctx.progress('half')
        return 'whole'
      },
    })
    const tool = toolOf('a_telling', { log: (line) => log.push(line) }, { tools: [told], visibility: {} })
    const result = await tool.execute('1', {}, undefined, () => {
      throw new Error('full')
    })
    expect(result.details).toBe('whole')
    expect(log).toEqual(['[tools] onUpdate failed for a_telling: full'])
  })

  it('answer immediately if a client executes them, and report how it ended', async () => {
    let reply: (text: string) => void = () => {}
    const onClient = defineTool({
      name: 'client.pick',
      description: 'The client picks.',
      input: { type: 'object', properties: {} },
      execute: (_: unknown, ctx: BaseContext) => {
        ctx.pending('waiting for the client')
        ctx.progress('not told any more')
        return new Promise<string>((resolve) => {
          reply = resolve
        })
      },
    })
    let onSettled: (result: ToolResult, toolCallId: string) => void = () => {}
    const settled = new Promise<[ToolResult, string]>((resolve) => {
      onSettled = (...end) => resolve(end)
    })
    const updates: unknown[] = []
    const hub = hubOf({ tools: [onClient], visibility: {} })
    const [tool] = toAgentTools(hub, { names: ['client.pick'], onSettled })
    const first = await tool!.execute('call-7', {}, undefined, (update) => updates.push(update))
    const details = { status: 'pending', tool: 'client_pick', message: 'Tool execution delegated to client' }
    expect(first).toEqual({ content: [{ type: 'text', text: JSON.stringify(details, null, 2) }], details })
    reply('the red one')
    const [result, toolCallId] = await settled
    expect(toolCallId).toBe('call-7')
    expect(result).toMatchObject({ ok: true, data: 'the red one' })
    expect(updates).toEqual([])
  })

  it('can speak the dialect of a provider', async () => {
    const strict = toolOf('math_add', { provider: 'openai-strict' })
    expect(strict.parameters).toMatchObject({ required: ['a', 'b'], additionalProperties: false })
    expect((await strict.execute('1', { a: 1, b: null })).details).toEqual({ sum: 101 })
  })

  it('ask the approver that the loop names', async () => {
    const asked: string[] = []
    const save = toolOf('notes_save', {
      approve: ({ tool }) => {
        asked.push(tool)
        return { decision: 'deny', reason: 'no' }
      },
    })
    expect((await save.execute('1', { text: 'x' })).details).toMatchObject({ status: 'error', tool: 'notes_save' })
    expect(asked).toEqual(['notes.save'])
  })

  it('have a second form with the arguments in another order', async () => {
    const [add] = toToolDefinitions(hubOf(), { names: ['math.add'] })
    expect(add).toMatchObject({ name: 'math_add', label: 'math_add', parameters: { type: 'object' } })
    expect((await add!.execute('1', { a: 1, b: 1 })).details).toEqual({ sum: 2 })
    await expect(add!.execute('1', { a: 1 }, undefined, undefined, AbortSignal.abort())).rejects.toThrow(/stopped/)
  })
})
