import { z } from 'zod'
import type { BaseContext } from '../../../core/define.ts'
import type { FileChange, ReadFiles, WriteFiles } from '../../../core/handles.ts'
import { bytesOrText, wireBytes } from './bytes-or-text.ts'
import type { CapabilityUse } from './call-bridge.ts'

/** What fits into one line together with its frame. */
const MAX_BYTES = 7_000_000

const path = z.string().max(4_096)
const count = z.int().min(0).optional()
const flag = z.boolean().optional()
const globs = z.array(z.string().max(1_000)).max(100).optional()
const upTo = z.strictObject({ maxBytes: count }).optional()
const mkdirp = z.strictObject({ mkdirp: flag }).optional()
const range = z.strictObject({ offset: count, maxBytes: count }).default({})
const lines = z.strictObject({ offset: count, limit: count, maxBytes: count }).optional()
const list = z.strictObject({ recursive: flag, maxDepth: count, maxEntries: count, includeHidden: flag }).optional()
const find = z.strictObject({ pattern: z.string(), limit: count, includeHidden: flag, includeIgnored: flag })
const search = z.strictObject({
  pattern: z.string(),
  isRegex: flag,
  ignoreCase: flag,
  globs,
  type: z.string().max(100).optional(),
  contextLines: count,
  multiline: flag,
  output: z.enum(['lines', 'files', 'counts']).optional(),
  maxMatches: count,
  maxFiles: count,
  includeHidden: flag,
  includeIgnored: flag,
})
const sha256 = z.string().max(64)
const write = { overwrite: flag, mkdirp: flag, replaces: sha256.optional(), mode: count }
const writeText = z.strictObject(write).optional()
const writeBytes = z.strictObject({ ...write, maxBytes: count }).optional()
const changes = z
  .array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('create'), path, content: bytesOrText, mode: count }),
      z.strictObject({ type: z.literal('replace'), path, content: bytesOrText, replaces: sha256 }),
      z.strictObject({ type: z.literal('remove'), path, replaces: sha256, movedTo: path.optional() }),
    ]),
  )
  .max(10_000)

/** The files of a call, as far as its tool declared them. */
export function useFiles(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('fs' in ctx)) return []
  const fs = ctx.fs as Partial<ReadFiles & WriteFiles>
  return [...(canRead(fs) ? readUses(fs) : []), ...(canWrite(fs) ? writeUses(fs) : [])]
}

function canRead(fs: Partial<ReadFiles>): fs is ReadFiles {
  return fs.readText !== undefined
}

function canWrite(fs: Partial<WriteFiles>): fs is WriteFiles {
  return fs.writeText !== undefined
}

function readUses(fs: ReadFiles): [string, CapabilityUse][] {
  return [
    ['fs.readText', ([at, options]) => fs.readText(path.parse(at), upTo.parse(options))],
    ['fs.readFile', ([at, options]) => fs.readFile(path.parse(at), upTo.parse(options))],
    ['fs.readBytes', ([at, options]) => readBytes(fs, path.parse(at), range.parse(options))],
    ['fs.readLines', ([at, options]) => fs.readLines(path.parse(at), lines.parse(options))],
    ['fs.stat', ([at]) => fs.stat(path.parse(at))],
    ['fs.sha256', ([at]) => fs.sha256(path.parse(at))],
    ['fs.list', ([at, options]) => fs.list(path.parse(at), list.parse(options))],
    ['fs.search', ([at, options]) => fs.search(path.parse(at), search.parse(options))],
    ['fs.find', ([at, options]) => fs.find(path.parse(at), find.parse(options))],
  ]
}

function writeUses(fs: WriteFiles): [string, CapabilityUse][] {
  return [
    [
      'fs.writeText',
      ([at, text, options]) => fs.writeText(path.parse(at), z.string().parse(text), writeText.parse(options)),
    ],
    [
      'fs.writeBytes',
      ([at, bytes, options]) => fs.writeBytes(path.parse(at), wireBytes.parse(bytes), writeBytes.parse(options)),
    ],
    ['fs.changeAll', ([given]) => fs.changeAll(changes.parse(given) as FileChange[])],
    ['fs.makeFolder', ([at, options]) => fs.makeFolder(path.parse(at), mkdirp.parse(options))],
    ['fs.move', ([from, to, options]) => fs.move(path.parse(from), path.parse(to), mkdirp.parse(options))],
    ['fs.copy', ([from, to, options]) => fs.copy(path.parse(from), path.parse(to), mkdirp.parse(options))],
    [
      'fs.remove',
      ([at, options]) => fs.remove(path.parse(at), z.strictObject({ recursive: flag }).optional().parse(options)),
    ],
  ]
}

async function readBytes(fs: ReadFiles, at: string, { offset, maxBytes }: z.infer<typeof range>) {
  const most = Math.min(maxBytes ?? MAX_BYTES, MAX_BYTES)
  const { content, ...facts } = await fs.readBytes(at, { ...(offset !== undefined && { offset }), maxBytes: most })
  return { ...facts, content: { base64: Buffer.from(content).toString('base64') } }
}
