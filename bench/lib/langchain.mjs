import { tool } from '@langchain/core/tools'
import { z } from 'zod'
import { orderSchema, totalOf } from './order.mjs'

/** The trivial tool in LangChain. It checks its input, not its output. */
export const langchainAdd = tool(({ a, b }) => ({ sum: a + b }), {
  name: 'add',
  description: 'Add two whole numbers.',
  schema: z.strictObject({ a: z.int(), b: z.int() }),
})

/** The same with an asynchronous function. */
export const langchainAddLater = tool(async ({ a, b }) => ({ sum: a + b }), {
  name: 'add_later',
  description: 'Add two whole numbers.',
  schema: z.strictObject({ a: z.int(), b: z.int() }),
})

/** The tool with nested arguments in LangChain. */
export const langchainOrder = tool((order) => ({ total: totalOf(order) }), {
  name: 'place_order',
  description: 'Add up an order.',
  schema: orderSchema,
})

/** Calls a LangChain tool as an agent loop does: a tool call with an id in, a tool message out. */
export function invokeAsAgent(langchainTool, id, args) {
  return langchainTool.invoke({ type: 'tool_call', id, name: langchainTool.name, args })
}

/** The waiting tool in LangChain. */
export const langchainWait = tool(({ ms, value }) => new Promise((resolve) => setTimeout(resolve, ms, { value })), {
  name: 'wait',
  description: 'Wait, then give the number back.',
  schema: z.strictObject({ ms: z.int(), value: z.int() }),
})
