import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Context } from '../../../core/define.ts'
import { ToolError } from '../../../core/errors.ts'
import { quote } from '../quote.ts'
import type { ReadResult } from './read-result.ts'
import { textEvidence } from './text-evidence.ts'

/** Up to here a file that is too large to hand over is hashed, and up to there kept as an artifact. */
const MAX_HASHED = 67_108_864
const MAX_KEPT = 16_777_216
const PREVIEW_CHARS = 500

/** Reads a whole text file; one that is over the limit gives its size, hash, beginning and where all of it is. */
export async function readWholeFile(
  path: string,
  maxBytes: number | undefined,
  ctx: Context<'read:fs'>,
): Promise<ReadResult> {
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

/** What helps is named: a larger maxBytes if the file fits into what is allowed, else the key that the guard names. */
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
 * Hashes the file, and keeps it as an artifact where it is not huge; neither when a rule keeps the call to less. Not by
 * `ctx.fs.sha256`: the run has not seen what is in the file, so it must not count as read.
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
    // It became shorter meanwhile.
    if (content.length === 0) return {}
    hash.update(content)
    if (bytes <= MAX_KEPT) pieces.push(content)
    offset += content.length
  }
  const sha256 = hash.digest('hex')
  return pieces.length === 0 ? { sha256 } : { sha256, artifact: await putArtifact(path, Buffer.concat(pieces), ctx) }
}

/** Its reference; none where the hub keeps no records. */
async function putArtifact(path: string, content: Buffer, ctx: Context): Promise<string | undefined> {
  // As text it is freed of secrets like everything on record.
  const kept = isUtf8(content) ? content.toString('utf8') : content
  try {
    return (await ctx.artifact(kept, { name: path.slice(path.lastIndexOf('/') + 1) })).ref
  } catch (error) {
    if (ToolError.is(error) && error.code === 'RECORDS_UNAVAILABLE') return undefined
    throw error
  }
}
