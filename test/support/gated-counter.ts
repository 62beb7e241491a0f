import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'

/** A tool that counts its executions, each of which waits while the gate is shut; it changes something, so policy and keys matter. */
export function gatedCounter() {
  let release = () => {}
  let gate = Promise.resolve()
  const counter = {
    count: 0,
    shut() {
      gate = new Promise((resolve) => (release = resolve))
    },
    release: () => release(),
    reset() {
      release()
      gate = Promise.resolve()
      counter.count = 0
    },
    tool: defineTool({
      name: 'test.increment',
      description: 'Count, when the gate is open.',
      input: z.strictObject({ n: z.number().optional() }),
      capabilities: ['write:fs'],
      targets: () => ({ 'write:fs': 'count.txt' }),
      async execute({ n }, ctx) {
        counter.count++
        ctx.progress('counted')
        await new Promise<void>((resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
          void gate.then(resolve)
        })
        return { n }
      },
    }),
    /** Waits until so many executions have begun. */
    async reached(count: number) {
      while (counter.count < count) await new Promise(setImmediate)
    },
  }
  return counter
}
