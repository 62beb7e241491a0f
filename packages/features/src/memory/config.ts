import { defineConfig, SERVER_NAME } from '@tool-hub/core'
import {
  countSchema,
  duration,
  key,
  parseDuration,
  parseSize,
  size,
  text,
  withoutUndefined,
} from '@tool-hub/core/config'
import { z } from 'zod'
import {
  type HttpMemory,
  type McpMemory,
  type McpMemoryTool,
  MEMORY_WRITE_MODES,
  type MemoryLimits,
  type MemoryOptions,
} from './types.ts'

const mcpTool = z.union([
  text,
  z.strictObject({
    tool: text.describe('Name of the tool on the server.'),
    arguments: key(
      z.record(z.string(), text),
      'Maps our argument names to those of the tool: { query: q, limit: top_k }; others are not sent.',
    ),
  }),
])

const mcp = z.strictObject({
  server: z.string().regex(SERVER_NAME).describe('Its name in mcpServers.'),
  recall: mcpTool.describe('The tool that finds notes: query, scopes, limit, tags.'),
  write: key(mcpTool, 'The tool that stores a note: id, scope, content, tags.'),
  update: key(mcpTool, 'The tool that changes a note: id, scope, content, tags.'),
  forget: key(mcpTool, 'The tool that deletes a note: id, scope.'),
})

const limits = z.strictObject({
  note: key(size, 'Maximum characters of a note; at most 20,000.', '20KB'),
  notes: key(countSchema.min(1), 'Maximum notes in one scope.', 100_000),
  candidates: key(countSchema.min(1), 'Maximum notes of one run that wait for review.', 1_000),
  timeout: key(duration, 'Timeout for one request to a provider.', '10s'),
})

const url = z.url({ protocol: /^https?$/ })

const section = z
  .strictObject({
    enabled: key(z.boolean(), 'false turns off the memory tools.', true),
    provider: key(
      z.enum(['embedded', 'external']),
      'Where notes are stored: in the store below data (embedded), or by the service in url or mcp (external).',
      'embedded',
    ),
    write_mode: key(
      z.enum(MEMORY_WRITE_MODES),
      'What happens to new notes: disabled refuses them, candidate keeps them in the archive of the run until you review them, external stores them immediately.',
      'candidate',
    ),
    url: key(url, 'URL of an external service that implements the protocol of docs/reference/memory.md.'),
    secret: key(text, 'Name of the secret to send to it as a bearer token.'),
    headers: key(
      z.record(z.string(), z.string()),
      'Headers of every request to it; ${secret:name} is replaced with the secret.',
    ),
    mcp: key(mcp, 'An MCP server whose tools store the notes.'),
    limits: key(limits, 'Limits on notes.'),
  })
  .superRefine(({ provider = 'embedded', write_mode: writeMode, url: address, secret, headers, mcp: server }, ctx) => {
    const named = [address, server].filter((each) => each !== undefined).length
    // If nothing is written to the service, it can be configured later.
    const isLater = named === 0 && writeMode !== 'external'
    if (provider === 'external' && named !== 1 && !isLater)
      ctx.addIssue('provider: external with write_mode: external needs either url, or mcp with server and recall.')
    if (provider === 'embedded' && (named > 0 || secret !== undefined || headers !== undefined))
      ctx.addIssue('url, secret, headers and mcp are for provider: external.')
    if (server !== undefined && (secret !== undefined || headers !== undefined))
      ctx.addIssue('secret and headers are for url; configure those of an MCP server in mcpServers.')
  })

/** The section `memory` of the config file. */
export const memoryConfig = defineConfig({
  description: 'What agents remember; docs/reference/memory.md.',
  schema: section,
  toOptions: toMemory,
  turnsToolsOff: ({ enabled, writeMode }) => enabled === false || writeMode === 'disabled',
  warnings: ({ provider, url: address, mcp: server }) =>
    provider === 'external' && address === undefined && server === undefined
      ? [
          {
            key: 'provider',
            message: 'has neither url nor mcp, so promoted notes are stored in the store below data.',
          },
        ]
      : [],
})

type WrittenMcp = NonNullable<z.output<typeof section>['mcp']>

function toMemory(memory: z.output<typeof section>): MemoryOptions {
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
