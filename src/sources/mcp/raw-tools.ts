import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isPlainObject } from '../../lib/index.ts'

/** Where a list of tools is carried past the SDK. */
const KEY = 'tool-hub/tools'

/**
 * Lets the lists of tools of a connected transport come as their server wrote them: the SDK would refuse all for one
 * that is broken, and many servers have one. Everything else it still checks.
 */
export function carryRawTools(transport: Transport): void {
  const lists = new Set<unknown>()
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if ('method' in message && message.method === 'tools/list' && 'id' in message) lists.add(message.id)
    return send(message, options)
  }
  const { onmessage } = transport
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    onmessage?.('result' in message && lists.delete(message.id) ? carried(message) : message, extra)
  }
}

/** The tools of one page, as they came. */
export function rawToolsOf(result: {
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}): readonly unknown[] {
  const tools = result._meta?.[KEY]
  return Array.isArray(tools) ? tools : []
}

function carried(message: JSONRPCMessage & { readonly result: unknown }): JSONRPCMessage {
  const { tools, _meta, ...others } = message.result as Readonly<Record<string, unknown>>
  if (!Array.isArray(tools)) return message as JSONRPCMessage
  const result = { ...others, tools: [], _meta: { ...(isPlainObject(_meta) && _meta), [KEY]: tools } }
  return { ...message, result } as JSONRPCMessage
}
