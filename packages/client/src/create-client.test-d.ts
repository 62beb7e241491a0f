import { describe, expectTypeOf, it } from 'vitest'
import type { ToolResult } from '../../core/src/call.ts'
import { createClient } from './create-client.ts'

type Tools = { 'notes.save': { input: { text: string }; output: { bytes: number } } }

describe('createClient', () => {
  it('checks calls against a map of tools', () => {
    const client = createClient<Tools>({ url: 'http://127.0.0.1' })
    expectTypeOf(client.call('notes.save', { text: 'x' })).resolves.toEqualTypeOf<ToolResult<{ bytes: number }>>()
    // @ts-expect-error This tool does not exist.
    void client.call('notes.lose', { text: 'x' })
    // @ts-expect-error The text is missing.
    void client.call('notes.save', {})
  })

  it('calls anything without one', () => {
    const client = createClient({ url: 'http://127.0.0.1' })
    expectTypeOf(client.call('anything', 1)).resolves.toEqualTypeOf<ToolResult<unknown>>()
  })

  it('takes the classes of browsers and of the package ws', async () => {
    const { WebSocket } = await import('ws')
    createClient({ WebSocket })
  })
})
