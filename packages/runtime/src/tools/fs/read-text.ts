import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type Context, defineTool, ToolError } from '@tool-hub/core'
import { artifactHash } from '@tool-hub/core/lib'
import { z } from 'zod'
import { PATH_ALIASES, pathSchema, quote } from './file-arguments.ts'
import { readDecoded } from './read/read-decoded.ts'
import { readFilePage, readRange } from './read/read-page.ts'
import { type ReadResult, readResult, showLines, showNumbered, showPlain, textEvidence } from './read/read-result.ts'

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

const encoding = z
  .string()
  .min(1)
  .max(40)
  .optional()
  .describe('The encoding of a file that is not UTF-8 or UTF-16: gbk, big5, shift_jis.')
const MAX_BYTES = 'The most bytes to read. Default: 5242880, or what the owner set as limits.read.'
const PAGE_LINES = 2_000
/** A longer line is read with byteOffset. */
const PAGE_CHARS = 29_000
/** No character of a text has more bytes than three times its UTF-16 code units. */
const PAGE_BYTES = 3 * PAGE_CHARS
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
    maxChars: z.int().min(1_024).max(10_485_760).optional().describe('The most characters of the lines.'),
    encoding,
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
        'Read a file: text with line numbers (at most 2000 lines or 29,000 characters at a time; continue with offset), or an image. Lines are ' +
        '1-based. The numbers are not part of the file. For folders use ls.',
      input: z.strictObject({
        path,
        offset: line.optional().describe('The first line to read, 1-based.'),
        limit: line.optional().describe('The most lines to read.'),
        encoding,
        byteOffset,
        byteLimit,
      }),
      toInput: ({ path, offset = 1, limit = PAGE_LINES, encoding, byteOffset, byteLimit }) => {
        if (byteOffset !== undefined || byteLimit !== undefined) return { path, byteOffset, byteLimit }
        return { path, offset, limit, encoding, maxBytes: PAGE_BYTES, maxChars: PAGE_CHARS, images: true }
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
        encoding,
      }),
      toInput: ({ path, start_line: from = 1, end_line: to, encoding }) => {
        if (to !== undefined && to < from) throw backwards(from, to)
        const limit = to === undefined ? ALL_LINES : to - from + 1
        return { path, offset: from, limit, encoding, maxBytes: FILE_BYTES }
      },
      toModel: showLines,
    },
  },
  async execute({ path, maxBytes, maxChars, offset, limit, encoding, byteOffset, byteLimit, images }, ctx) {
    try {
      if (byteOffset !== undefined || byteLimit !== undefined)
        return await readRange(path, { byteOffset, byteLimit }, ctx)
      if (encoding !== undefined) return await readDecoded(path, { encoding, offset, limit, maxChars, maxBytes }, ctx)
      if (offset !== undefined || limit !== undefined || images)
        return await readFilePage(path, { offset, limit, maxBytes, maxChars, images }, ctx)
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

/** Files too large to return are hashed up to this size, and stored as an artifact up to the next one. */
const MAX_HASHED = 67_108_864
const MAX_KEPT = 16_777_216
const PREVIEW_CHARS = 500

/** Reads a whole text file. For a file over the limit, returns its size, hash, beginning and where all of it is. */
async function readWholeFile(path: string, maxBytes: number | undefined, ctx: Context<'read:fs'>): Promise<ReadResult> {
  try {
    const { text, bytes, encoding } = await ctx.fs.readFile(path, { maxBytes })
    ctx.evidence(textEvidence(path, text, `${bytes} bytes`))
    return { path, text, bytes, ...(encoding !== 'utf-8' && { encoding }) }
  } catch (error) {
    if (ToolError.is(error) && error.code === 'FILE_TOO_LARGE') throw await tooLarge(path, error, ctx)
    throw error
  }
}

async function tooLarge(path: string, cause: ToolError, ctx: Context<'read:fs'>): Promise<ToolError> {
  const { content: head, bytes } = await ctx.fs.readBytes(path, { maxBytes: PREVIEW_CHARS })
  const { sha256, artifact } = await keep(path, bytes, ctx)
  ctx.evidence({ type: 'file', ref: path, summary: `${bytes} bytes, not read${sha256 ? `, sha256 ${sha256}` : ''}` })
  const preview = beginning(head)
  const parts = [
    cause.message,
    ...(sha256 ? [`sha256 ${sha256}.`] : []),
    ...(artifact ? [`The whole is ${artifact}.`] : []),
    ...(preview ? [`It begins: ${quote(preview, PREVIEW_CHARS)}`] : []),
  ]
  return new ToolError('FILE_TOO_LARGE', parts.join(' '), {
    fix: { key: 'offset', value: 1, hint: adviceFor(cause, bytes) },
    details: { ...cause.details, bytes, sha256, artifact },
    cause,
  })
}

/**
 * Names what helps: a larger maxBytes if the file is within what is allowed, otherwise the key that the guard names.
 */
function adviceFor({ details, fix }: ToolError, bytes: number): string {
  const { limit, allowed } = details as { readonly limit: number; readonly allowed: number }
  const raise = bytes <= allowed ? `Raise maxBytes (at most ${allowed} here).` : limit === allowed ? fix.hint : ''
  return `Read lines of it with offset (1-based) and limit, or search in it. ${raise}`.trim()
}

function beginning(head: Uint8Array): string {
  const text = Buffer.from(head).toString('utf8')
  return text.includes('\0') ? '' : text.replace(/\ufffd$/, '')
}

/**
 * Hashes the file, and stores it as an artifact unless it is huge; neither if a rule limits the call. Does not use
 * `ctx.fs.sha256`: the run has not seen the content, so it must not count as read.
 */
async function keep(
  path: string,
  bytes: number,
  ctx: Context<'read:fs'>,
): Promise<{ sha256?: string; artifact?: string }> {
  if (bytes > MAX_HASHED || ctx.constraints.maxBytes !== undefined) return {}
  const hash = createHash('sha256')
  const pieces: Uint8Array[] = []
  for (let offset = 0; offset < bytes; ) {
    const { content } = await ctx.fs.readBytes(path, { offset })
    // The file became shorter meanwhile.
    if (content.length === 0) return {}
    hash.update(content)
    if (bytes <= MAX_KEPT) pieces.push(content)
    offset += content.length
  }
  const sha256 = hash.digest('hex')
  return pieces.length === 0 ? { sha256 } : { sha256, artifact: await putArtifact(path, Buffer.concat(pieces), ctx) }
}

/** Returns its reference; `undefined` if the hub keeps no records. */
async function putArtifact(path: string, content: Buffer, ctx: Context): Promise<string | undefined> {
  // As text it is redacted like everything on record.
  const kept = isUtf8(content) ? content.toString('utf8') : content
  try {
    return (await ctx.artifact(kept, { name: path.slice(path.lastIndexOf('/') + 1) })).ref
  } catch (error) {
    if (ToolError.is(error) && error.code === 'RECORDS_UNAVAILABLE') return undefined
    throw error
  }
}
