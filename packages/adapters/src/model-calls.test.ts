import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { callWithProgress } from './model-calls.ts'

const count = defineTool({
  name: 'text.count',
  description: 'Counts.',
  input: z.strictObject({ to: z.number() }),
  execute: async ({ to }, ctx) => {
    for (let number = 1; number <= to; number++) {
      ctx.progress(String(number))
      if (number % 3 === 0) await Promise.resolve()
    }
    return 'done'
  },
})

let hub: TestHub
afterEach(() => hub.close())

describe('callWithProgress', () => {
  it('gives all progress in order, and the result last', async () => {
    const told = await all(1_000)
    expect(told).toEqual([...Array.from({ length: 1_000 }, (_, index) => `${index + 1}`), 'done'])
  })

  it('gives only the result if nothing reported progress', async () => {
    expect(await all(0)).toEqual(['done'])
  })

  it('does not stop the call of one who stops reading', async () => {
    hub = testHub({ tools: [count] })
    const ends: string[] = []
    hub.onEvent((event) => event.type === 'call-ended' && ends.push(event.result.status))
    for await (const _ of callWithProgress((onEvent) => hub.callDynamic('text.count', { to: 9 }, { onEvent }))) break
    await hub.close()
    expect(ends).toEqual(['ok'])
  })

  it('throws what the call throws, after its progress', async () => {
    hub = testHub()
    const told = callWithProgress((onEvent) => {
      onEvent({ type: 'call-progressed', callId: 'c', content: [] })
      return Promise.reject(new Error('broken'))
    })
    expect((await told.next()).value).toEqual({ status: 'running', content: [] })
    await expect(told.next()).rejects.toThrow('broken')
  })
})

async function all(to: number): Promise<unknown[]> {
  hub = testHub({ tools: [count] })
  const told: unknown[] = []
  for await (const { content } of callWithProgress((onEvent) => hub.callDynamic('text.count', { to }, { onEvent }))) {
    told.push(content[0]?.type === 'text' && content[0].text)
  }
  return told
}
