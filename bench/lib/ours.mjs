import { z } from 'zod'
import { createToolHub, defineTool } from '../../packages/tool-hub/dist/index.js'
import { orderSchema, totalOf } from './order.mjs'
import { ownerRules } from './rules.mjs'

/** The trivial pure tool, with schemas both ways and evidence of its own. */
export const add = defineTool({
  name: 'bench/math.add',
  description: 'Add two whole numbers.',
  input: z.strictObject({ a: z.int(), b: z.int() }),
  output: z.strictObject({ sum: z.int() }),
  execute: ({ a, b }, ctx) => {
    ctx.evidence({ type: 'tool', ref: 'bench/math.add', summary: 'added' })
    return { sum: a + b }
  },
})

/** The same with an asynchronous `execute`, as most tools have. */
export const addLater = defineTool({
  name: 'bench/math.addLater',
  description: 'Add two whole numbers.',
  input: z.strictObject({ a: z.int(), b: z.int() }),
  output: z.strictObject({ sum: z.int() }),
  execute: async ({ a, b }, ctx) => {
    ctx.evidence({ type: 'tool', ref: 'bench/math.addLater', summary: 'added' })
    return { sum: a + b }
  },
})

/** A tool with nested arguments. */
export const placeOrder = defineTool({
  name: 'bench/shop.placeOrder',
  description: 'Add up an order.',
  input: orderSchema,
  output: z.strictObject({ total: z.number() }),
  execute: (order) => ({ total: totalOf(order) }),
})

/** Waits as a tool does that asks somebody over a network. */
export const wait = defineTool({
  name: 'bench/time.wait',
  description: 'Wait, then give the number back.',
  input: z.strictObject({ ms: z.int(), value: z.int() }),
  output: z.strictObject({ value: z.int() }),
  execute: ({ ms, value }) => new Promise((resolve) => setTimeout(resolve, ms, { value })),
})

/** A tool with an effect, so that its record must be on the disk itself. */
export const remember = defineTool({
  name: 'bench/memory.remember',
  description: 'Remember a number.',
  input: z.strictObject({ value: z.int() }),
  output: z.strictObject({ value: z.int() }),
  capabilities: ['memory'],
  execute: ({ value }) => ({ value }),
})

/** A hub as an owner would run it: 50 rules, a budget for the run, records in the default durability. */
export function governedHub({ runs, tools = [add], policy = ownerRules(50), ...options }) {
  const budget = { calls: 1e9, wallMs: 1e12, bytes: 1e15 }
  return createToolHub({ tools, policy, runs, data: runs || undefined, limits: { run: budget }, ...options })
}

/** The same with a project folder that tools may use, and the network on loopback. */
export function projectHub({ root, ...options }) {
  const folder = `${root}/**`
  const rules = [
    { allow: 'read:fs', on: folder },
    { allow: 'write:fs', on: folder },
    { allow: 'network', on: '127.0.0.1' },
  ]
  const sandbox = { root, network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] }
  return governedHub({ tools: [], policy: [...ownerRules(47), ...rules], sandbox, ...options })
}

/** The data of a call that has to work: a refusal would be quick, and a lie. */
export async function dataOf(call) {
  const result = await call
  if (!result.ok) throw new Error(`${result.tool}: ${result.error.code} ${result.error.message}`)
  return result.data
}
