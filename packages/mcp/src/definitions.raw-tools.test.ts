import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { carryRawTools, rawToolsOf } from './definitions.ts'

function open() {
  const sent: unknown[][] = []
  const heard: unknown[][] = []
  const transport = {
    send: async (...given: unknown[]) => void sent.push(given),
    onmessage: (...given: unknown[]) => void heard.push(given),
  } as unknown as Transport
  carryRawTools(transport)
  return { transport, sent, heard }
}

const list = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'tools/list' })
const answer = (id: number, result: object): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: result as never })

it('carries the tools of a list past the SDK, once, with everything else in place', async () => {
  const { transport, sent, heard } = open()
  await transport.send(list(1), { relatedRequestId: 9 })
  expect(sent).toEqual([[list(1), { relatedRequestId: 9 }]])
  const tools = [{ name: 1 }]
  transport.onmessage!(answer(1, { tools, nextCursor: 'b', _meta: { a: 1 } }), { authInfo: undefined })
  const [message, extra] = heard[0] as [{ id: number; result: { _meta: Record<string, unknown> } }, unknown]
  expect(extra).toEqual({ authInfo: undefined })
  expect(message).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: [], nextCursor: 'b', _meta: { a: 1 } } })
  expect(rawToolsOf(message.result)).toEqual(tools)
  transport.onmessage!(answer(1, { tools }))
  expect(heard[1]![0]).toEqual(answer(1, { tools }))
})

it('leaves every other message as it is', async () => {
  const { transport, heard } = open()
  await transport.send({ jsonrpc: '2.0', id: 2, method: 'tools/call' })
  await transport.send({ jsonrpc: '2.0', method: 'tools/list' })
  await transport.send(list(3))
  await transport.send(list(4))
  const messages: JSONRPCMessage[] = [
    answer(2, { tools: [] }),
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    { jsonrpc: '2.0', id: 3, error: { code: -1, message: 'no' } },
    answer(4, { tools: 'none' }),
  ]
  for (const message of messages) transport.onmessage!(message)
  expect(heard.map(([message]) => message)).toEqual(messages)
})

it('takes what is not a list for an empty one', () => {
  for (const result of [{}, { _meta: {} }, { _meta: { 'tool-hub/tools': 'none' } }])
    expect(rawToolsOf(result)).toEqual([])
})

it('survives a result whose _meta is not an object', async () => {
  const { transport, heard } = open()
  await transport.send(list(1))
  transport.onmessage!(answer(1, { tools: [1], _meta: 'none' }))
  const [message] = heard[0] as [{ result: object }]
  expect(message.result).toEqual({ tools: [], _meta: { 'tool-hub/tools': [1] } })
})
