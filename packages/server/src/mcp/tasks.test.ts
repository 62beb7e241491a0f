import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { useServedHubs } from '../../../../test/support/mcp-served.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'

const { serve: serveHub, connect, connectFirst } = useServedHubs()
/** Nobody is known here, and yet asked. */
const serve: typeof serveHub = (options, serving) => serveHub(options, { elicitation: true, ...serving })

/** A tool that ends when the test says so. */
function slow() {
  let finish = (_: string) => {}
  let stop = () => {}
  const text = new Promise<string>((resolve) => {
    finish = resolve
  })
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const tool = defineTool({
    name: 'slow',
    description: 'Takes its time.',
    input: z.strictObject({}),
    execute: (_, ctx) => {
      ctx.progress('half of it')
      return new Promise<string>((resolve, reject) => {
        void text.then(resolve)
        ctx.signal.addEventListener('abort', () => {
          stop()
          reject(ctx.signal.reason)
        })
      })
    },
  })
  return { tool, finish: (text: string) => finish(text), stopped }
}

const asks = defineTool({
  name: 'asks',
  description: 'Asks.',
  input: z.strictObject({}),
  execute: async (_, ctx) => (await ctx.ask({ question: 'Well?' })).answer,
})

describe('a call as a task of the legacy era', () => {
  const TASK = z.looseObject({ taskId: z.string(), status: z.string() })
  const CREATED = z.looseObject({ task: TASK })
  const ANY = z.looseObject({})

  it('is made, looked at, listed and waited for', async () => {
    const { tool, finish } = slow()
    const { url } = await serve({ tools: [tool] })
    const client = await connectFirst(url)
    expect(client.getServerCapabilities()).toMatchObject({ tasks: { requests: { tools: { call: {} } } } })
    const params = { name: 'slow', arguments: {}, task: { ttl: 60_000 } }
    const { task } = await client.request({ method: 'tools/call', params }, CREATED)
    expect(task).toMatchObject({ status: 'working', ttl: 60_000 })
    const { taskId } = task
    const seen = await client.request({ method: 'tasks/get', params: { taskId } }, TASK)
    expect(seen).toMatchObject({ status: 'working', statusMessage: 'half of it' })
    expect(await client.request({ method: 'tasks/list', params: {} }, ANY)).toMatchObject({ tasks: [{ taskId }] })
    const result = client.request({ method: 'tasks/result', params: { taskId } }, ANY)
    finish('at last')
    expect(await result).toMatchObject({
      content: [{ text: 'at last' }],
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    })
    expect(await client.request({ method: 'tasks/get', params: { taskId } }, TASK)).toMatchObject({
      status: 'completed',
    })
    await expect(client.request({ method: 'tasks/cancel', params: { taskId } }, ANY)).rejects.toMatchObject({
      code: -32602,
    })
  })

  it('is stopped when it is cancelled', async () => {
    const { tool, stopped } = slow()
    const { url } = await serve({ tools: [tool] })
    const client = await connectFirst(url)
    const params = { name: 'slow', arguments: {}, task: {} }
    const { taskId } = (await client.request({ method: 'tools/call', params }, CREATED)).task
    const cancelled = await client.request({ method: 'tasks/cancel', params: { taskId } }, TASK)
    expect(cancelled.status).toBe('cancelled')
    await stopped
  })

  it('belongs to its session, and stops with it', async () => {
    const { tool, stopped } = slow()
    const { url } = await serve({ tools: [tool] })
    const [client, other] = [await connectFirst(url), await connectFirst(url)]
    const params = { name: 'slow', arguments: {}, task: {} }
    const { taskId } = (await client.request({ method: 'tools/call', params }, CREATED)).task
    await expect(other.request({ method: 'tasks/get', params: { taskId } }, ANY)).rejects.toMatchObject({
      code: -32602,
    })
    const transport = client.transport as unknown as { terminateSession(): Promise<void> }
    await transport.terminateSession()
    await stopped
  })

  it('asks the client that waits for its result', async () => {
    const { url } = await serve({ tools: [asks] })
    const client = await connect(url, 'legacy', { onForm: () => ({ action: 'accept', content: { answer: 'fine' } }) })
    const call = { name: 'asks', arguments: {}, task: {} }
    const { task } = (await client.request(
      { method: 'tools/call', params: call } as never,
      CREATED as never,
    )) as z.infer<typeof CREATED>
    const params = { taskId: task.taskId }
    const seen = (await client.request({ method: 'tasks/get', params } as never, TASK as never)) as z.infer<typeof TASK>
    expect(seen.status).toBe('input_required')
    const result = await client.request({ method: 'tasks/result', params } as never, ANY as never)
    expect(result).toMatchObject({ content: [{ text: 'fine' }] })
  })

  it('is not made when there are too many', async () => {
    const { tool } = slow()
    const { url } = await serve({ tools: [tool], limits: { concurrency: 100 } })
    const client = await connectFirst(url)
    const request = { method: 'tools/call' as const, params: { name: 'slow', arguments: {}, task: {} } }
    await Promise.all(Array.from({ length: 50 }, () => client.request(request, CREATED)))
    await expect(client.request(request, CREATED)).rejects.toThrow('50 tasks')
  })
})

describe('a call as a task of the modern era', () => {
  let id = 0
  /** The client of the SDK does not know the extension, so it is spoken by hand. */
  const send = async (url: URL, method: string, params: Record<string, unknown>, capabilities: object = TASKS) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'by-hand', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    }
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': String(params.name ?? params.taskId),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta } }),
    })
    return (await response.json()) as { result?: Record<string, unknown>; error?: { code: number } }
  }
  const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: { form: {} } }

  it('begins when it takes long, and is looked at until it has its result', async () => {
    const { tool, finish } = slow()
    const { url } = await serve({ tools: [tool] }, { taskAfterMs: 1 })
    const { result: created } = await send(url, 'tools/call', { name: 'slow', arguments: {} })
    expect(created).toMatchObject({ resultType: 'task', status: 'working', taskId: expect.any(String) })
    const { taskId } = created as { taskId: string }
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({
      resultType: 'complete',
      status: 'working',
    })
    finish('at last')
    const { result } = await send(url, 'tasks/get', { taskId })
    expect(result).toMatchObject({ status: 'completed', result: { content: [{ text: 'at last' }] } })
  })

  it('is never begun for a client that does not know tasks', async () => {
    const { tool, finish } = slow()
    const clock = fakeClock()
    const { hub, url } = await serve({ tools: [tool] }, { clock })
    hub.onEvent((event) => {
      if (event.type === 'call-progressed') void clock.advance(60_000).then(() => finish('in the end'))
    })
    const { result } = await send(url, 'tools/call', { name: 'slow', arguments: {} }, {})
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'in the end' }] })
  })

  it('is not shown to a client that does not say it knows tasks', async () => {
    const { tool } = slow()
    const { url } = await serve({ tools: [tool] }, { taskAfterMs: 1 })
    const { result } = await send(url, 'tools/call', { name: 'slow', arguments: {} })
    const { taskId } = result as { taskId: string }
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect((await send(url, method, { taskId }, {})).error).toMatchObject({ code: -32021 })
  })

  it('is stopped when it is cancelled', async () => {
    const { tool, stopped } = slow()
    const { url } = await serve({ tools: [tool] }, { taskAfterMs: 1 })
    const { result } = await send(url, 'tools/call', { name: 'slow', arguments: {} })
    const { taskId } = result as { taskId: string }
    expect((await send(url, 'tasks/cancel', { taskId })).error).toBeUndefined()
    await stopped
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' })
    expect((await send(url, 'tasks/get', { taskId: 'another' })).error).toMatchObject({ code: -32602 })
  })

  it('asks, and continues with the answers that are brought to it', async () => {
    let ask = () => {}
    const asked = new Promise<void>((resolve) => {
      ask = resolve
    })
    const waiting = defineTool({
      ...asks,
      name: 'later',
      execute: async (_, ctx) => {
        await asked
        return (await ctx.ask({ question: 'Well?' })).answer
      },
    })
    const { url } = await serve({ tools: [waiting] }, { taskAfterMs: 1 })
    const { result } = await send(url, 'tools/call', { name: 'later', arguments: {} })
    const { taskId } = result as { taskId: string }
    ask()
    const seen = (await send(url, 'tasks/get', { taskId })).result as { inputRequests: Record<string, object> }
    expect(seen).toMatchObject({ status: 'input_required' })
    const [key, request] = Object.entries(seen.inputRequests)[0]!
    expect(request).toMatchObject({ method: 'elicitation/create', params: { message: 'later asks: Well?' } })
    const inputResponses = { [key]: { action: 'accept', content: { answer: 'fine' } } }
    expect((await send(url, 'tasks/update', { taskId, inputResponses })).error).toBeUndefined()
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'fine' }] },
    })
  })
})
