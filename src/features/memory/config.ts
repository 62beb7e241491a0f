import { z } from 'zod'
import {
  countSchema,
  duration,
  key,
  parseDuration,
  parseSize,
  size,
  text,
  withoutUndefined,
} from '../../core/config/index.ts'
import { defineConfig, SERVER_NAME } from '../../core/index.ts'
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
    tool: text.describe('The tool of the server.'),
    arguments: key(
      z.record(z.string(), text),
      'Our names of arguments and its own: { query: q, limit: top_k }; what is not named is not sent.',
    ),
  }),
])

const mcp = z.strictObject({
  server: z.string().regex(SERVER_NAME).describe('Its name in mcpServers.'),
  recall: mcpTool.describe('The tool that finds notes: query, scopes, limit, tags.'),
  write: key(mcpTool, 'The tool that keeps a note: id, scope, content, tags.'),
  update: key(mcpTool, 'The tool that changes a note: id, scope, content, tags.'),
  forget: key(mcpTool, 'The tool that takes a note away: id, scope.'),
})

const limits = z.strictObject({
  note: key(size, 'Characters of one note, 20,000 at most.', '20KB'),
  notes: key(countSchema.min(1), 'Notes of one scope.', 100_000),
  candidates: key(countSchema.min(1), 'Notes of one run that may wait for review.', 1_000),
  timeout: key(duration, 'Time for one answer of a provider.', '10s'),
})

const url = z.url({ protocol: /^https?$/ })

const section = z
  .strictObject({
    enabled: key(z.boolean(), 'false takes the tools of memory away.', true),
    provider: key(
      z.enum(['embedded', 'external']),
      'Who keeps the notes: the store below data, or a service named by url or mcp.',
      'embedded',
    ),
    write_mode: key(
      z.enum(MEMORY_WRITE_MODES),
      'Where notes go: disabled nowhere, candidate into the archive of the run until you have looked, external into memory at once.',
      'candidate',
    ),
    url: key(url, 'Of an external service that speaks the protocol of docs/reference/memory.md.'),
    secret: key(text, 'Name of the secret that is sent to it as a bearer token.'),
    headers: key(z.record(z.string(), z.string()), 'Sent to it with every request; ${secret:name} is filled in.'),
    mcp: key(mcp, 'Tools of an MCP server that keep the notes.'),
    limits: key(limits, 'Bounds on notes.'),
  })
  .superRefine(({ provider = 'embedded', write_mode: writeMode, url: address, secret, headers, mcp: server }, ctx) => {
    const named = [address, server].filter((each) => each !== undefined).length
    // Where nothing is written outside, the service may be named later.
    const isLater = named === 0 && writeMode !== 'external'
    if (provider === 'external' && named !== 1 && !isLater)
      ctx.addIssue(
        'provider: external with write_mode: external needs a url, or mcp with server and recall, beside it: one of the two.',
      )
    if (provider === 'embedded' && (named > 0 || secret !== undefined || headers !== undefined))
      ctx.addIssue('url, secret, headers and mcp are for provider: external.')
    if (server !== undefined && (secret !== undefined || headers !== undefined))
      ctx.addIssue('secret and headers go with url; those of an MCP server are said in mcpServers.')
  })

/** The section `memory` of the config file. */
export const memoryConfig = defineConfig({
  description: 'What agents remember; docs/reference/memory.md.',
  schema: section,
  toOptions: toMemory,
  warnings: ({ provider, url: address, mcp: server }) =>
    provider === 'external' && address === undefined && server === undefined
      ? [
          {
            key: 'provider',
            message: 'names no url and no mcp, so accepted notes are kept in the store below data.',
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
