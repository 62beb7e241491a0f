import { ToolError } from '@tool-hub/core/errors'
import { z } from 'zod'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { defineTool } from '../../packages/core/src/tool.ts'

/** One pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Tools that show one thing each, for tests of adapters; what `save` got is in `saved`. */
export function modelTools() {
  const saved: unknown[] = []
  const opened: string[] = []
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const add = defineTool({
    name: 'math.add',
    description: 'Add two numbers.',
    input: z.strictObject({ a: z.number(), b: z.number().optional() }),
    execute: ({ a, b }) => ({ sum: a + (b ?? 100) }),
    toModel: ({ sum }) => `sum ${sum}`,
  })
  const save = defineTool({
    name: 'notes.save',
    description: 'Keep a note elsewhere.',
    input: z.strictObject({ text: z.string().min(1) }),
    capabilities: ['remote'],
    targets: () => ({ remote: 'notes' }),
    execute: ({ text }) => {
      saved.push(text)
      return 'saved'
    },
  })
  const anything = defineTool({
    name: 'any.take',
    description: 'Take anything.',
    input: {},
    execute: (input) => {
      saved.push(input)
      return 'taken'
    },
  })
  const picture = defineTool({
    name: 'screen.shot',
    description: 'Show the screen.',
    input: z.strictObject({}),
    execute: () => 'seen',
    toModel: () => [
      { type: 'text', text: 'the screen' },
      { type: 'image', data: PIXEL, mediaType: 'image/png' },
    ],
  })
  const broken = defineTool({
    name: 'build.run',
    description: 'Build.',
    input: z.strictObject({}),
    execute: () => {
      throw new ToolError('EXEC_FAILED', 'make ended with 2.', { data: 'main.c:1: error', hint: 'Read the output.' })
    },
  })
  /** Those that are called first end last. */
  const turn = defineTool({
    name: 'turn.take',
    description: 'Wait for those that come later.',
    input: z.strictObject({ number: z.int(), of: z.int() }),
    async execute({ number, of }) {
      opened.push(String(number))
      if (opened.length === of) open()
      await gate
      for (let rest = number; rest < of; rest++) await new Promise((resolve) => setImmediate(resolve))
      return number
    },
  })
  const wait = defineTool({
    name: 'wait.forever',
    description: 'Wait until it is stopped.',
    input: z.strictObject({}),
    execute: (_, ctx) => {
      const { signal } = ctx
      ctx.progress('waiting')
      signal.throwIfAborted()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    },
  })
  const either = defineTool({
    name: 'shape.draw',
    description: 'Draw a circle or a box.',
    input: z.union([
      z.strictObject({ kind: z.literal('circle'), radius: z.number(), color: z.string().optional() }),
      z.strictObject({ kind: z.literal('box'), side: z.number() }),
    ]),
    execute: (shape) => {
      saved.push(shape)
      return shape.kind
    },
  })
  const tools = [add, save, anything, picture, broken, turn, wait, either] as const
  const options: HubOptions<typeof tools> = { tools, runs: false, visibility: { allow: tools.map(({ name }) => name) } }
  return { saved, tools, options }
}
