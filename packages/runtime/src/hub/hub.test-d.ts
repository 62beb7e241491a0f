import { Type } from '@sinclair/typebox'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { z } from 'zod'
import { definePlugin } from '../../../core/src/plugin.ts'
import { jsonResult } from '../../../core/src/result-formats.ts'
import { defineTool } from '../../../core/src/tool.ts'

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
function is<T extends true>(_?: T): void {}

const add = defineTool({
  name: 'math.add',
  description: 'Adds.',
  input: z.strictObject({ a: z.number(), b: z.number().default(1) }),
  output: z.strictObject({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const say = defineTool({
  name: 'text.say',
  description: 'Says.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: ({ text }) => text.length,
})

/** Checked by the compiler: a call is typed by value and by name, built-in, own or of a plugin. */
export async function calls(): Promise<void> {
  const hub = createToolHub({ tools: [add, say] })
  const byValue = await hub.call(add, { a: 1 })
  if (byValue.ok) is<Equal<typeof byValue.data, { sum: number }>>()
  else is<Equal<typeof byValue.data, { sum: number } | undefined>>()
  const byName = await hub.call('text.say', { text: 'x' })
  if (byName.ok) is<Equal<typeof byName.data, number>>()
  const builtin = await hub.call('core/util.hash.sha256Text', { text: 'x' })
  if (builtin.ok) is<Equal<typeof builtin.data.sha256, string>>()

  // @ts-expect-error unknown name
  await hub.call('math.sub', { a: 1 })
  // @ts-expect-error wrong input by name
  await hub.call('math.add', { a: 'one' })
  // @ts-expect-error wrong input by value
  await hub.call(add, { b: 1 })
  await hub.call(add, {
    a: 1,
    // @ts-expect-error the compiler names the misspelled argument, by value as well
    bb: 1,
  })
  await hub.call('math.add', {
    a: 1,
    // @ts-expect-error and by name
    bb: 1,
  })
  await hub.call(add, {
    // @ts-expect-error the compiler names the argument of another type
    a: 'one',
  })
  // @ts-expect-error a key that is not there
  await hub.call('text.say', { txt: 'x' })
  await hub.callDynamic('anything', { at: 'all' })
  const skill = await hub.call('core/skill.load', { name: 'pdf' })
  if (skill.ok) is<Equal<typeof skill.data.name, string>>()

  const extended = hub.use(
    definePlugin({
      name: 'p',
      tools: [
        defineTool({ name: 'p.x', description: 'X.', input: z.strictObject({ n: z.int() }), execute: ({ n }) => n }),
      ],
    }),
  )
  const fromPlugin = await extended.call('p.x', { n: 1 })
  if (fromPlugin.ok) is<Equal<typeof fromPlugin.data, number>>()
  // @ts-expect-error the hub before did not know it
  await hub.call('p.x', { n: 1 })
  for await (const event of hub.stream(add, { a: 1 })) {
    if (event.type === 'call-ended' && event.result.ok) is<Equal<typeof event.result.data, { sum: number }>>()
  }
  for await (const event of hub.stream('math.add', { a: 1 })) {
    if (event.type === 'call-ended' && event.result.ok) is<Equal<typeof event.result.data, { sum: number }>>()
  }
  hub.stream(add, {
    a: 1,
    // @ts-expect-error the compiler names the misspelled argument
    bb: 1,
  })
  const fromAModel: string = 'math.add'
  hub.stream(fromAModel, { at: 'all' })
}

/** Checked by the compiler: a plugin that registers an AgentTool needs no annotations, and its parameters have types. */
export const custom = definePlugin({
  name: 'custom',
  setup(api) {
    api.registerTool({
      name: 'my_tool',
      description: 'Custom tool',
      parameters: Type.Object({ input: Type.String() }),
      async execute(toolCallId, params, signal) {
        is<Equal<typeof toolCallId, string>>()
        is<Equal<typeof params, { input: string }>>()
        is<Equal<typeof signal, AbortSignal | undefined>>()
        return jsonResult({ result: 'ok' })
      },
    })
    api.registerTool({
      name: 'other_tool',
      description: 'Another tool',
      parameters: { type: 'object' },
      handler: async (ctx, args) => ({ content: `${ctx.callId} ${args}`, is_error: false }),
    })
    api.registerTool(add)
    // @ts-expect-error neither execute nor a handler
    api.registerTool({ name: 'no_tool', description: 'Nothing', parameters: Type.Object({}) })
  },
})

/** Checked by the compiler: the calls of a tool are typed by value; by name they are not. */
export const caller = defineTool({
  name: 'math.twice',
  description: 'Adds twice.',
  input: z.strictObject({}),
  async execute(_, ctx) {
    const sum = await ctx.call(add, { a: 1 })
    if (sum.ok) is<Equal<typeof sum.data, { sum: number }>>()
    await ctx.call(add, {
      a: 1,
      // @ts-expect-error the compiler names the misspelled argument
      bb: 1,
    })
    await ctx.call('anything', { at: 'all' })
    return {}
  },
})
