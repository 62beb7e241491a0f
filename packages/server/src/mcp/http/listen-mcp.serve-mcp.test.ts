import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { useServedHubs } from '../../../../../test/support/mcp-served.ts'
import { isRunId } from '../../../../core/src/names.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import type { McpExtras } from '../options.ts'

const { serve, connect, connectFirst } = useServedHubs()
const ERAS = ['legacy', 'modern'] as const

const add = defineTool({
  name: 'math/add',
  title: 'Add',
  description: 'Add two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  output: z.strictObject({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const count = defineTool({
  name: 'count',
  description: 'Counts aloud.',
  input: z.strictObject({}),
  execute: (_, ctx) => {
    for (const word of ['one', 'two', 'three']) ctx.progress(word)
    return 'done'
  },
})
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.strictObject({}),
  execute: () => {
    throw new ToolError('UPSTREAM_ERROR', 'The far side said 503.', { hint: 'Wait a minute.' })
  },
})
const keep = defineTool({
  name: 'keep',
  description: 'Keeps something large.',
  input: z.strictObject({ text: z.string() }),
  execute: async ({ text }, ctx) => (await ctx.artifact(text, { name: 'kept.txt' })).sha256,
})
const whoami = defineTool({
  name: 'whoami',
  description: 'Says which run this is.',
  input: z.strictObject({}),
  output: z.strictObject({ run: z.string() }),
  execute: (_, ctx) => ({ run: ctx.run }),
})

/** A tool that runs until it is stopped, and reports when it began and was stopped. */
function endless() {
  let begin = () => {}
  let stop = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const tool = defineTool({
    name: 'endless',
    description: 'Never ends.',
    input: z.strictObject({}),
    execute: (_, { signal }) =>
      new Promise<string>((_, reject) => {
        signal.addEventListener('abort', () => {
          stop()
          reject(signal.reason)
        })
        begin()
      }),
  })
  return { tool, begun, stopped }
}

describe.each(ERAS)('a client of the %s era', (era) => {
  it('lists the visible tools under their wire names, the same every time', async () => {
    const { hub, url } = await serve({ tools: [add, count] })
    const client = await connect(url, era)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(hub.cards().map(({ name }) => name))
    expect(tools.every(({ name }) => /^[A-Za-z0-9_.-]+$/.test(name))).toBe(true)
    const tool = tools.find(({ name }) => name === 'math_add')
    expect(tool).toMatchObject({
      title: 'Add',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    })
    const other = await connect(url, era)
    expect(JSON.stringify((await other.listTools()).tools)).toBe(JSON.stringify(tools))
  })

  it('calls a tool and gets its text and its data', async () => {
    const { url } = await serve({ tools: [add] })
    const client = await connect(url, era)
    const result = await client.callTool({ name: 'math_add', arguments: { a: 2, b: 3 } })
    expect(result).toMatchObject({ content: [{ type: 'text' }], structuredContent: { sum: 5 } })
    expect(result.isError).toBeUndefined()
  })

  it('gets every failure that a model can correct as a result', async () => {
    const { url } = await serve({ tools: [add, fail] })
    const client = await connect(url, era)
    const badInput = await client.callTool({ name: 'math_add', arguments: { a: 'two' } })
    expect(badInput).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^INPUT_SCHEMA_INVALID: /) }],
    })
    const failed = await client.callTool({ name: 'fail', arguments: {} })
    expect(failed).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'UPSTREAM_ERROR: The far side said 503. Wait a minute.' }],
    })
  })

  it('gets data no longer than the limit allows, of the form that was promised, with a link to the whole', async () => {
    const text = `first${'x'.repeat(270_000)}last`
    const read = defineTool({
      name: 'read',
      description: 'Reads.',
      input: z.strictObject({}),
      output: z.strictObject({ path: z.string(), lines: z.array(z.string()), code: z.string().regex(/^y+$/) }),
      execute: () => ({ path: '/srv/a', lines: [text, 'short'], code: 'y'.repeat(15_000) }),
    })
    const { url } = await serve({ tools: [read], limits: { outputChars: 10_000 } })
    const client = await connect(url, era)
    // From now on the client checks what it gets.
    await client.listTools()
    const { content, structuredContent } = await client.callTool({ name: 'read', arguments: {} })
    expect(JSON.stringify(structuredContent).length).toBeLessThan(21_000)
    const link = (content as { type: string; uri: string }[]).find(({ type }) => type === 'resource_link')!
    expect(structuredContent).toEqual({
      path: '/srv/a',
      lines: [
        expect.stringMatching(/^firstx+\n… \[\d+ characters cut; the whole text: (artifact:.*)\] …\nx+last$/),
        'short',
      ],
      code: 'y'.repeat(15_000),
    })
    expect((structuredContent as { lines: string[] }).lines[0]).toContain(link.uri)
    const [whole] = (await client.readResource({ uri: link.uri })).contents as { text: string }[]
    expect(whole!.text).toContain(text)
  })

  it('gets what policy denies as a result', async () => {
    const { url } = await serve({ tools: [add], policy: [{ deny: 'math/add', reason: 'no sums today' }] })
    const client = await connect(url, era)
    const result = await client.callTool({ name: 'math_add', arguments: { a: 1, b: 1 } })
    const text = expect.stringMatching(/no sums today.* Only the owner can change this.* Remove or narrow/)
    expect(result).toMatchObject({ isError: true, content: [{ text }] })
    expect(result.content).toHaveLength(1)
  })

  it('gets an error that a tool is unknown, and for a hidden one which key hides or shows it', async () => {
    const { url } = await serve({ tools: [add, count], visibility: { profile: 'coding', deny: ['count'] } })
    const client = await connect(url, era)
    const unknown = client.callTool({ name: 'nothing', arguments: {} })
    await expect(unknown).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool: nothing'),
    })
    for (const [name, key] of [
      ['count', 'tools.deny has count'],
      ['core_code_run', 'tools.also: [core/code.run]'],
    ] as const) {
      const hidden = await client.callTool({ name, arguments: {} })
      expect(hidden).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^TOOL_DISABLED: /) }] })
      expect((hidden.content as { text: string }[])[0]!.text).toContain(key)
    }
  })

  it('hears progress in growing numbers, and only when it asked for it', async () => {
    const { url } = await serve({ tools: [count] })
    const client = await connect(url, era)
    const heard: { progress: number; message?: string }[] = []
    await client.callTool({ name: 'count', arguments: {} }, { onprogress: (progress) => heard.push(progress) })
    await client.callTool({ name: 'count', arguments: {} })
    expect(heard.map(({ progress, message }) => [progress, message])).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ])
  })

  it('stops its call when it cancels', async () => {
    const { tool, begun, stopped } = endless()
    const { url } = await serve({ tools: [tool] })
    const client = await connect(url, era)
    const controller = new AbortController()
    const call = client.callTool({ name: 'endless', arguments: {} }, { signal: controller.signal })
    await begun
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow()
    await stopped
  })

  it('stops its call when it is gone', async () => {
    const { tool, begun, stopped } = endless()
    const { url } = await serve({ tools: [tool] })
    const client = await connect(url, era)
    const call = client.callTool({ name: 'endless', arguments: {} })
    call.catch(() => {})
    await begun
    await client.close()
    await stopped
  })

  it('reads the artifacts of its own calls', async () => {
    const { hub, url } = await serve({ tools: [keep] })
    const client = await connect(url, era)
    const { content } = await client.callTool({ name: 'keep', arguments: { text: 'précieux' } })
    const link = (content as { type: string; uri: string }[]).find(({ type }) => type === 'resource_link')
    expect(link).toMatchObject({ name: 'kept.txt', mimeType: 'text/plain; charset=utf-8', size: 9 })
    expect(await client.readResource({ uri: link!.uri })).toMatchObject({
      contents: [{ uri: link!.uri, text: 'précieux' }],
    })
    expect((await client.listResources()).resources).toMatchObject([{ uri: link!.uri, name: 'kept.txt' }])
    // The hub's own run has one of the same content: it is not this client's.
    const own = await hub.call(keep, { text: 'mine' })
    const foreign = `artifact://${hub.run}/${own.data}`
    for (const uri of [foreign, link!.uri.replace(/[0-9a-f]{64}$/, String(own.data)), 'file:///etc/passwd']) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({
        message: expect.stringContaining('not found'),
      })
    }
  })

  it('learns that the tools are governed', async () => {
    const { url } = await serve({ tools: [add] })
    expect((await connect(url, era)).getInstructions()).toMatch(/^These tools are governed/)
    const silent = await serve({ tools: [add] }, { instructions: '' })
    expect((await connect(silent.url, era)).getInstructions()).toBeUndefined()
  })

  it('refuses a cursor that nobody gave out', async () => {
    const { url } = await serve({ tools: [add] })
    const client = await connect(url, era)
    await expect(client.request({ method: 'tools/list', params: { cursor: 'abc' } })).rejects.toMatchObject({
      code: -32602,
    })
  })

  it('hears when the tools change, and not when they stay the same', async () => {
    const { hub, url } = await serve({ tools: [add] })
    let tell = (_: string[]) => {}
    const changed = new Promise<string[]>((resolve) => {
      tell = resolve
    })
    const onChanged = (_: unknown, tools: { name: string }[] | null) => tell((tools ?? []).map(({ name }) => name))
    const client = await connect(url, era, { listChanged: { tools: { onChanged, debounceMs: 0 } } })
    await client.listTools()
    hub.registry.register(count)
    expect(await changed).toContain('count')
    expect((await client.callTool({ name: 'count', arguments: {} })).content).toMatchObject([{ text: 'done' }])
  })
})

describe('runs', () => {
  it('are one for each session of the legacy era, and end with it', async () => {
    const { url } = await serve({ tools: [whoami] })
    const runOf = async () => {
      const client = await connect(url, 'legacy')
      const once = await client.callTool({ name: 'whoami', arguments: {} })
      const again = await client.callTool({ name: 'whoami', arguments: {} })
      expect(again.structuredContent).toEqual(once.structuredContent)
      return (once.structuredContent as { run: string }).run
    }
    const [first, second] = [await runOf(), await runOf()]
    expect(first).not.toBe(second)
    expect([first, second].every((run) => isRunId(run) && run.startsWith('mcp-'))).toBe(true)
  })

  it('are one for all callers in the modern era, which has no sessions', async () => {
    const { url } = await serve({ tools: [whoami] })
    const runs = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const client = await connect(url, 'modern', { name })
        return (await client.callTool({ name: 'whoami', arguments: {} })).structuredContent
      }),
    )
    expect(runs[0]).toEqual(runs[1])
  })

  it('name the client as the caller', async () => {
    const callers: string[] = []
    const hooks = [{ before: ({ caller }: { caller: string }) => void callers.push(caller) }]
    const { url } = await serve({ tools: [add], hooks })
    for (const era of ERAS) {
      const client = await connect(url, era, { name: `agent\u202e${era}` })
      await client.callTool({ name: 'math_add', arguments: { a: 1, b: 1 } })
    }
    expect(callers).toEqual(['mcp:agent\\u{202e}legacy', 'mcp:agent\\u{202e}modern'])
  })
})

describe('a large artifact', () => {
  it('is read in parts that end between characters', async () => {
    const large = `a${'é'.repeat(5_000_010)}`
    const make = defineTool({
      name: 'make',
      description: 'Makes something large.',
      input: z.strictObject({}),
      execute: async (_, ctx) => (await ctx.artifact(large)).name,
    })
    const { url } = await serve({ tools: [make] })
    const client = await connect(url, 'modern')
    await client.callTool({ name: 'make', arguments: {} })
    const { uri } = (await client.listResources()).resources[0]!
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents as {
        text: string
        _meta: Record<string, unknown>
      }[]
      return { text: content!.text, part: content!._meta['tool-hub/part'] as { next?: string; total: number } }
    }
    const first = await read(uri)
    expect(first.part).toMatchObject({ total: 10_000_021, next: `${uri}?offset=9999999` })
    const rest = await read(first.part.next!)
    expect(rest.part.next).toBeUndefined()
    expect(first.text + rest.text === large).toBe(true)
  })
})

describe('extras', () => {
  it('add to each server, in both eras, and hear the events of its calls', async () => {
    const heard: string[] = []
    const extras: McpExtras = (server, { era, answer }) => {
      server.registerCapabilities({ prompts: {} })
      server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: `hello-${era}` }] }))
      server.setRequestHandler('resources/list', async (request, context) => {
        const own = (await answer(request, context)) as { resources: { uri: string; name: string }[] }
        return { resources: [...own.resources, { uri: 'test://a', name: 'a' }] }
      })
      return (event) => heard.push(event.type)
    }
    const { url } = await serve({ tools: [add] }, { extras })
    for (const era of ERAS) {
      const client = await connect(url, era)
      expect((await client.listPrompts()).prompts).toMatchObject([{ name: `hello-${era}` }])
      expect((await client.listResources()).resources).toMatchObject([{ uri: 'test://a' }])
      await client.callTool({ name: 'math_add', arguments: { a: 1, b: 1 } })
    }
    expect(heard).toEqual(['call-started', 'call-ended', 'call-started', 'call-ended'])
  })
})

describe('the first SDK', () => {
  it('lists and calls', async () => {
    const { url } = await serve({ tools: [add] })
    const client = await connectFirst(url)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('math_add')
    const result = await client.callTool({ name: 'math_add', arguments: { a: 20, b: 22 } })
    expect(result.structuredContent).toEqual({ sum: 42 })
  })
})
