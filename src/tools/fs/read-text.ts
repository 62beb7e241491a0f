import { z } from 'zod'
import { type Context, defineTool } from '../../core/define.ts'
import { ToolError } from '../../core/errors.ts'
import { artifactHash } from '../../core/result.ts'
import { PATH_ALIASES, pathSchema } from './path-schema.ts'
import { readFilePage } from './read/read-page.ts'
import { readRange } from './read/read-range.ts'
import { readResult } from './read/read-result.ts'
import { readWholeFile } from './read/read-whole.ts'
import { showLines, showNumbered, showPlain } from './read/show-text.ts'

const path = pathSchema('The file to read, or artifact:<sha256> of this run.')
const line = z.int().min(1).max(2_000_000_000)
const byteOffset = z
  .int()
  .min(0)
  .optional()
  .describe('Read bytes from here on (0 is the first), for lines that are too long.')
const byteLimit = z
  .int()
  .min(1)
  .max(1_048_576)
  .optional()
  .describe('The most bytes to read from byteOffset on; Default: 25600.')

const MAX_BYTES = 'The most bytes to read. Default: 5242880, or what the owner set as limits.read.'
const PAGE_LINES = 2_000
/** A line of more bytes is read with byteOffset. */
const PAGE_BYTES = 29_000
const FILE_BYTES = 1_048_576
const ALL_LINES = 2_000_000_000

/** Reads a text file, or a part of it. */
export const readText = defineTool({
  name: 'core/fs.readText',
  title: 'Read a text file',
  description:
    'Read a text file (UTF-8, or UTF-16 with its mark). Use offset and limit to read some lines of a long one: over ' +
    'maxBytes only size, hash, beginning and a reference come back. Not for folders (list them) nor for binary files.',
  input: z.strictObject({
    path,
    maxBytes: z.int().min(1_024).max(10_485_760).optional().describe(MAX_BYTES),
    offset: line.optional().describe('The first line to read; lines are 1-based.'),
    limit: line.optional().describe('The most lines to read.'),
    byteOffset,
    byteLimit,
    images: z.boolean().optional().describe('Give PNG, JPEG, GIF and WebP images back as images.'),
  }),
  output: readResult,
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': artifactHash(path) === undefined ? path : [] }),
  timeoutMs: 30_000,
  overflow: 'head',
  category: 'read',
  tags: ['file', 'text', 'read'],
  version: '1.0.0',
  examples: [
    { input: { path: 'notes.md' } },
    { input: { path: 'server.log', offset: 5_000, limit: 50 }, note: 'lines 5000 to 5049' },
  ],
  dialects: {
    coding: {
      name: 'read',
      argumentAliases: PATH_ALIASES,
      description:
        'Read a file: text with line numbers (at most 2000 lines or 29 KB at a time; continue with offset), or an image. Lines are ' +
        '1-based. The numbers are not part of the file. For folders use ls.',
      input: z.strictObject({
        path,
        offset: line.optional().describe('The first line to read, 1-based.'),
        limit: line.optional().describe('The most lines to read.'),
        byteOffset,
        byteLimit,
      }),
      toInput: ({ path, offset = 1, limit = PAGE_LINES, byteOffset, byteLimit }) => {
        if (byteOffset !== undefined || byteLimit !== undefined) return { path, byteOffset, byteLimit }
        return { path, offset, limit, maxBytes: PAGE_BYTES, images: true }
      },
      toModel: showNumbered,
    },
    files: {
      name: 'read_file',
      maxOutputChars: 1_100_000,
      timeoutMs: 10_000,
      argumentAliases: PATH_ALIASES,
      description:
        'Read a text file, or its lines from start_line to end_line (1-based, both included). At most 1 MB at a time; what ' +
        'is left out is said. For folders use list_files.',
      input: z.strictObject({
        path,
        start_line: line.optional().describe('The first line to read, 1-based.'),
        end_line: line.optional().describe('The last line to read.'),
      }),
      toInput: ({ path, start_line: from = 1, end_line: to }) => {
        if (to !== undefined && to < from) throw backwards(from, to)
        return { path, offset: from, limit: to === undefined ? ALL_LINES : to - from + 1, maxBytes: FILE_BYTES }
      },
      toModel: showLines,
    },
  },
  async execute({ path, maxBytes, offset, limit, byteOffset, byteLimit, images }, ctx) {
    try {
      if (byteOffset !== undefined || byteLimit !== undefined)
        return await readRange(path, { byteOffset, byteLimit }, ctx)
      if (offset !== undefined || limit !== undefined || images)
        return await readFilePage(path, { offset, limit, maxBytes, images }, ctx)
      return await readWholeFile(path, maxBytes, ctx)
    } catch (error) {
      if (ToolError.is(error) && error.code === 'INPUT_SCHEMA_INVALID' && (await isFolder(path, ctx)))
        throw adviseListing(error)
      throw error
    }
  },
  toModel: showPlain,
})

async function isFolder(path: string, ctx: Context<'read:fs'>): Promise<boolean> {
  return (await ctx.fs.stat(path)).type === 'directory'
}

function adviseListing(cause: ToolError): ToolError {
  return new ToolError(cause.code, cause.message, {
    fix: { key: 'path', hint: 'List it with ls (core/fs.listDir), then read one of its files.' },
    cause,
  })
}

function backwards(from: number, to: number): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `end_line ${to} is before start_line ${from}.`, {
    fix: { key: 'end_line', value: from, hint: 'Give an end_line from start_line on, or leave it out.' },
  })
}
