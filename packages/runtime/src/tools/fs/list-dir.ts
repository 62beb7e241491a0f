import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { PATH_ALIASES, pathSchema } from './file-arguments.ts'

const path = pathSchema('The folder to list.')

const output = z.strictObject({
  entries: z.array(
    z.strictObject({
      name: z.string().describe('Relative to the folder.'),
      type: z.enum(['file', 'directory', 'symlink', 'other']),
      size: z.int().min(0).describe('Bytes.'),
      mtime: z.string().describe('Time of the last change, ISO 8601.'),
    }),
  ),
  isComplete: z.boolean().describe('False when entries were left out: over the limit, too deep, or not readable.'),
  searched: z.string().optional().describe('Real path of the folder; given when it is empty.'),
})

/** Lists a folder. */
export const listDir = defineTool({
  name: 'core/fs.listDir',
  title: 'List a folder',
  description:
    'List what is in a folder, sorted by name, with type, size and time; with recursive also what is below it. Links are ' +
    'named, not followed. Use it to look around. Not to look for files by name: find them.',
  input: z.strictObject({
    path,
    maxEntries: z.int().min(1).max(5_000).default(2_000).describe('The most entries to return.'),
    includeHidden: z.boolean().default(false).describe('Also names that begin with a dot.'),
    recursive: z.boolean().default(false).describe('Also what is in the folders below.'),
    maxDepth: z.int().min(1).max(10).default(10).describe('How deep to go with recursive; 1 is the folder itself.'),
  }),
  output,
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  timeoutMs: 30_000,
  category: 'read',
  tags: ['folder', 'list', 'files'],
  version: '1.0.0',
  examples: [{ input: { path: '.' } }, { input: { path: '.', recursive: true, maxDepth: 3 }, note: 'three levels' }],
  dialects: {
    coding: {
      name: 'ls',
      argumentAliases: { ...PATH_ALIASES, dir: 'path' },
      description: 'List a folder, hidden entries too: one name a line, folders end with /.',
      input: z.strictObject({
        path: path.default('.'),
        limit: z.int().min(1).max(5_000).default(500).describe('The most entries to return.'),
      }),
      toInput: ({ path, limit }) => ({ path, maxEntries: limit, includeHidden: true }),
      toModel: showNames,
    },
    files: {
      name: 'list_files',
      description: 'List a folder: one entry a line with its size; folders end with /.',
      input: z.strictObject({ path: path.default('.') }),
      toInput: ({ path }) => ({ path }),
      toModel: showSizes,
    },
  },
  async execute({ path, maxEntries, includeHidden, recursive, maxDepth }, ctx) {
    const most = Math.min(maxEntries, ctx.constraints.maxResults ?? maxEntries)
    const listing = await ctx.fs.list(path, { maxEntries: most, includeHidden, recursive, maxDepth })
    const { entries, isComplete } = listing
    const listed = `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`
    ctx.evidence({ type: 'file', ref: path, summary: `${listed}${isComplete ? '' : ', more left out'}` })
    if (!isComplete) {
      const why =
        entries.length >= most
          ? `the limit is ${most} entries`
          : recursive
            ? `those below maxDepth ${maxDepth}, or that could not be read`
            : 'those that could not be read'
      ctx.truncated(`${path}: some entries were left out: ${why}.`)
    }
    return { entries: [...entries], isComplete, ...(entries.length === 0 && { searched: listing.path }) }
  },
  toModel: showSizes,
})

type Listed = z.infer<typeof output>

function showNames(listed: Listed): string {
  return show(listed.entries.map(marked), listed)
}

function showSizes(listed: Listed): string {
  const lines = listed.entries.map((entry) =>
    entry.type === 'file' ? `${marked(entry)}  ${entry.size} bytes` : marked(entry),
  )
  return show(lines, listed)
}

function marked({ name, type }: Listed['entries'][number]): string {
  return type === 'directory' ? `${name}/` : type === 'symlink' ? `${name}@` : name
}

function show(lines: readonly string[], { searched }: Listed): string {
  if (lines.length === 0) return searched ? `The folder ${searched} is empty.` : 'The folder is empty.'
  return lines.join('\n')
}
