import type { HttpMemory, McpMemory, McpMemoryTool, MemoryLimits, MemoryOptions } from '../contracts/memory.ts'
import type { WrittenMemory } from './memory-schema.ts'
import { parseDuration, parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

type WrittenMcp = NonNullable<WrittenMemory['mcp']>

/** What `memory` says, in the words of `createToolHub`. */
export function toMemory(memory: WrittenMemory): MemoryOptions {
  const { enabled, write_mode: writeMode, url, secret, headers, mcp, limits } = memory
  const http = url === undefined ? undefined : withoutUndefined<HttpMemory>({ url, secret, headers })
  return withoutUndefined<MemoryOptions>({
    enabled,
    writeMode,
    provider: http ?? (mcp && toMcp(mcp)),
    limits:
      limits &&
      withoutUndefined<MemoryLimits>({
        noteChars: limits.note === undefined ? undefined : parseSize(limits.note),
        notesPerScope: limits.notes,
        candidatesPerRun: limits.candidates,
        timeoutMs: limits.timeout === undefined ? undefined : parseDuration(limits.timeout),
      }),
  })
}

function toMcp({ server, recall, write, update, forget }: WrittenMcp): McpMemory {
  const tools = { write: toTool(write), update: toTool(update), forget: toTool(forget) }
  return { mcp: withoutUndefined({ server, recall: toTool(recall)!, ...tools }) }
}

function toTool(tool: WrittenMcp['write']): string | McpMemoryTool | undefined {
  return typeof tool === 'object' ? withoutUndefined<McpMemoryTool>(tool) : tool
}
