import { Agent, type AgentInputItem, Runner, RunState, setTracingDisabled, tool } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ran, send, sendTwice, wait } from '../../../test/support/adapter-tools.ts'
import type { ToolResult } from '../../core/src/call.ts'
import type { CallEvent } from '../../core/src/events.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { type OpenAiAgentsOptions, toOpenAiAgents } from './openai-agents.ts'

setTracingDisabled(true)

const add = defineTool({
  name: 'math.add',
  description: 'Adds.',
  input: z.strictObject({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const draw = defineTool({
  name: 'draw.dot',
  description: 'Draws.',
  input: z.strictObject({}),
  execute: () => ({ png: 'iVBORw0KGgo=' }),
  toModel: ({ png }) => [
    { type: 'text', text: 'a dot' },
    { type: 'image', data: png, mediaType: 'image/png' },
    { type: 'resource', uri: 'file:///a.pdf', mediaType: 'application/pdf', data: 'JVBERi0=' },
  ],
})
const TOOLS = [add, send, sendTwice, draw, wait]
const NAMES: readonly string[] = TOOLS.map(({ name }) => name)

const hubs: TestHub[] = []
afterEach(async () => {
  ran.length = 0
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

describe('toOpenAiAgents', () => {
  it('shows the wire names and schemas, and runs the calls of a model', async () => {
    const { hub, runner, agentOf } = setUp()
    const { agent, model } = agentOf(['math_add', { a: 1, b: 2 }], ['math_add', { a: 2 }])
    const { finalOutput } = await runner.run(agent, 'Add.')
    expect(finalOutput).toBe('Done.')
    const shown = model.calls[0]!.request.tools.find((shown) => shown.type === 'function' && shown.name === 'math_add')
    const { parameters } = hub.cards().find(({ name }) => name === 'math_add')!
    expect(shown).toMatchObject({ description: 'Adds.', strict: false, parameters })
    expect(outputs(model)).toEqual([
      { type: 'text', text: '{"sum":3}' },
      { type: 'text', text: '{"sum":3}' },
    ])
  })

  it('shows strict schemas where they are wanted, and takes what a strict model gives', async () => {
    const { runner, agentOf } = setUp({}, { provider: 'openai-strict' })
    const { agent, model } = agentOf(['math_add', { a: 2, b: null }])
    await runner.run(agent, 'Add.')
    const shown = model.calls[0]!.request.tools.find((shown) => shown.type === 'function' && shown.name === 'math_add')
    expect(shown).toMatchObject({ strict: true, parameters: { required: ['a', 'b'] } })
    expect(outputs(model)).toEqual([{ type: 'text', text: '{"sum":3}' }])
  })

  it('runs in a stream too', async () => {
    const { runner, agentOf } = setUp()
    const { agent, model } = agentOf(['math_add', { a: 1, b: 2 }])
    const streamed = await runner.run(agent, 'Add.', { stream: true })
    const names: string[] = []
    for await (const event of streamed) if (event.type === 'run_item_stream_event') names.push(event.name)
    expect(names).toEqual(['tool_called', 'tool_output', 'message_output_created'])
    expect(outputs(model)).toEqual([{ type: 'text', text: '{"sum":3}' }])
  })

  it('leaves validation to the hub, and tells the model what is wrong', async () => {
    const { runner, agentOf, ended } = setUp()
    const { agent, model } = agentOf(['math_add', { a: 'one' }])
    await runner.run(agent, 'Add.')
    expect(outputs(model)).toEqual([{ type: 'text', text: expect.stringMatching(/^INPUT_SCHEMA_INVALID: /) }])
    expect(ended().map(({ status }) => status)).toEqual(['error'])
  })

  it('gives images and files as structured output', async () => {
    const { runner, agentOf } = setUp()
    const { agent, model } = agentOf(['draw_dot', {}])
    await runner.run(agent, 'Draw.')
    expect(outputs(model)).toEqual([
      [
        { type: 'input_text', text: 'a dot' },
        { type: 'input_image', image: 'data:image/png;base64,iVBORw0KGgo=' },
        { type: 'input_file', file: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      ],
    ])
  })

  it('stops the call when the run is aborted', async () => {
    const { hub, runner, agentOf, ended } = setUp()
    const controller = new AbortController()
    hub.onEvent(({ type }) => type === 'call-progressed' && controller.abort())
    const { agent } = agentOf(['time_wait', {}])
    await expect(runner.run(agent, 'Wait.', { signal: controller.signal })).rejects.toThrow(/abort/i)
    expect(ended().map(({ status }) => status)).toEqual(['aborted'])
  })
})

describe('what policy says about a call of the Agents SDK', () => {
  it('denies without an interruption, and tells the model', async () => {
    const { runner, agentOf } = setUp({ policy: [{ deny: 'remote', reason: 'no mail today' }] })
    const { agent, model } = agentOf(['mail_send', { to: 'a' }])
    const { interruptions } = await runner.run(agent, 'Send.')
    expect(interruptions).toEqual([])
    expect(outputs(model)).toEqual([{ type: 'text', text: expect.stringMatching(/^POLICY_DENIED: .*no mail today/) }])
    expect(ran).toEqual([])
  })

  it('interrupts the run, and runs what was approved once', async () => {
    const { runner, agentOf, ended } = setUp()
    const { agent, model } = agentOf(['mail_send', { to: 'a' }])
    const { interruptions, state } = await runner.run(agent, 'Send.')
    expect(interruptions.map(({ name, arguments: args }) => [name, args])).toEqual([['mail_send', '{"to":"a"}']])
    expect({ ran, ended: ended() }).toEqual({ ran: [], ended: [] })
    state.approve(interruptions[0]!)
    const { finalOutput } = await runner.run(agent, state)
    expect(finalOutput).toBe('Done.')
    expect(ran).toEqual(['a'])
    expect(ended()).toMatchObject([{ status: 'ok', meta: { approvedBy: 'openai-agents' } }])
    expect(outputs(model)).toEqual([{ type: 'text', text: 'sent to a' }])
  })

  it('continues from a saved state, with tools created anew', async () => {
    const { runner, agentOf } = setUp()
    const asking = agentOf(['mail_send', { to: 'a' }])
    const saved = (await runner.run(asking.agent, 'Send.')).state.toString()
    const { agent } = agentOf()
    const state = await RunState.fromString(agent, saved)
    for (const interruption of state.getInterruptions()) state.approve(interruption)
    expect((await runner.run(agent, state)).finalOutput).toBe('Done.')
    expect(ran).toEqual(['a'])
  })

  it('tells the model when the user rejects; the hub hears nothing of it', async () => {
    const { runner, agentOf, ended } = setUp()
    const { agent, model } = agentOf(['mail_send', { to: 'a' }])
    const { interruptions, state } = await runner.run(agent, 'Send.')
    state.reject(interruptions[0]!, { message: 'not now' })
    await runner.run(agent, state)
    expect(outputs(model)).toEqual([{ type: 'text', text: 'not now' }])
    expect({ ran, ended: ended() }).toEqual({ ran: [], ended: [] })
  })

  it('takes no yes for another call, nor for what the approved call calls', async () => {
    const { runner, agentOf } = setUp()
    const { agent, model } = agentOf(['mail_sendTwice', { to: 'a' }], ['mail_send', { to: 'b' }])
    const { interruptions, state } = await runner.run(agent, 'Send.')
    state.approve(interruptions[0]!)
    state.reject(interruptions[1]!, { message: 'not b' })
    await runner.run(agent, state)
    expect(outputs(model)).toEqual([
      { type: 'text', text: 'one, APPROVAL_UNAVAILABLE' },
      { type: 'text', text: 'not b' },
    ])
    expect(ran).toEqual(['a'])
  })

  it('asks the approver of the hub if configured', async () => {
    const { runner, agentOf, ended } = setUp(
      { approve: () => ({ decision: 'allow', by: 'owner' }) },
      { approvals: 'hub' },
    )
    const { agent } = agentOf(['mail_send', { to: 'a' }])
    expect((await runner.run(agent, 'Send.')).interruptions).toEqual([])
    expect(ended()).toMatchObject([{ ok: true, meta: { approvedBy: 'owner' } }])
  })
})

function setUp(hubOptions: HubOptions = {}, options: Partial<OpenAiAgentsOptions<unknown>> = {}) {
  const hub = testHub({ approve: undefined, ...hubOptions, tools: TOOLS })
  hubs.push(hub)
  const ends: CallEvent[] = []
  hub.onEvent((event) => ends.push(event))
  const ended = (): ToolResult[] => ends.flatMap((event) => (event.type === 'call-ended' ? [event.result] : []))
  /** An agent whose model makes these calls first, then says that it is done. */
  const agentOf = (...calls: (readonly [name: string, args: Record<string, unknown>])[]) => {
    const made = calls.map(([name, args], index) => functionCall(name, args, { callId: `c${index}` }))
    const model = new ScriptedModel([...(made.length > 0 ? [made] : []), [assistantMessage('Done.')]])
    const tools = toOpenAiAgents(hub, { names: NAMES, ...options, tool })
    return { agent: new Agent({ name: 'Helper', model, tools }), model }
  }
  return { hub, runner: new Runner({ tracingDisabled: true }), agentOf, ended }
}

/** The results of its calls in the last request to the model. */
function outputs(model: ScriptedModel): unknown[] {
  const { input } = model.lastCall!.request
  return (input as AgentInputItem[]).flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []))
}
