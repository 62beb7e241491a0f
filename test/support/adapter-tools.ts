import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'

/** To whom `send` and `sendTwice` have sent; tests empty it. */
export const ran: string[] = []

/** Policy asks for it. */
export const send = defineTool({
  name: 'mail.send',
  description: 'Sends.',
  input: z.strictObject({ to: z.string() }),
  capabilities: ['remote'],
  targets: ({ to }) => ({ remote: `mail:${to}` }),
  execute: ({ to }) => {
    ran.push(to)
    return `sent to ${to}`
  },
})

/** Has another tool send, too. */
export const sendTwice = defineTool({
  name: 'mail.sendTwice',
  description: 'Sends, and has another one sent.',
  input: z.strictObject({ to: z.string() }),
  capabilities: ['remote'],
  targets: ({ to }) => ({ remote: `mail:${to}` }),
  execute: async ({ to }, ctx) => {
    ran.push(to)
    const inner = await ctx.call(send, { to: 'boss' })
    return inner.ok ? 'both' : `one, ${inner.error.code}`
  },
})

/** Runs until it is stopped. */
export const wait = defineTool({
  name: 'time.wait',
  description: 'Waits until it is stopped.',
  input: z.strictObject({}),
  execute: (_, ctx) =>
    new Promise<string>((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
      ctx.progress('waiting')
    }),
})
