import { z } from 'zod'
import { MEMORY_WRITE_MODES, SERVER_NAME } from '../core/index.ts'
import { countSchema, duration, key, size, text } from './schema-parts.ts'

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

/** `memory`: what agents remember, in the words of S4. */
export const memorySchema = z
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

/** The section as it was written, checked. */
export type WrittenMemory = z.output<typeof memorySchema>
