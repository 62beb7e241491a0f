import { defineTool, type FileChange, type ReadContext, type TextChange, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { readSource } from './file-arguments.ts'
import { type PatchSection, parsePatch, pathsOf } from './patch/parse-patch.ts'
import { type PatchedFile, planPatch } from './patch/plan-patch.ts'

const input = z
  .string()
  .min(1)
  .max(2_097_152)
  .describe(
    'The patch: "*** Begin Patch", then for each file "*** Add File: path" (lines with + follow), "*** Delete File: path", or ' +
      '"*** Update File: path" (then "*** Move to: path" to rename it) with changes: "@@ a line before it", then lines with ' +
      'a blank (stays), - (goes) or + (comes), then "*** End of File" if it stands there; at last "*** End Patch".',
  )

const description =
  'Change several files in one call by a patch: add, update, move and delete; all of it happens or nothing. Show three lines ' +
  'around each change, and name a line before it with @@ when they are not unique. Not for one small change: edit the file.'

/** Changes several files with a patch. */
export const applyPatch = defineTool({
  name: 'core/fs.applyPatch',
  title: 'Apply a patch',
  description,
  input: z.strictObject({ input }),
  output: z.strictObject({
    files: z.array(
      z.strictObject({
        path: z.string().describe('The path as the patch names it.'),
        change: z.enum(['added', 'updated', 'deleted', 'moved']),
        to: z.string().optional().describe('Where it was moved.'),
        added: z.int().min(0).describe('Lines that came.'),
        removed: z.int().min(0).describe('Lines that went; not counted for a deleted file.'),
      }),
    ),
  }),
  capabilities: ['read:fs', 'write:fs', 'danger:destructive'],
  targets: ({ input }) => {
    const sections = parsePatch(input)
    return {
      'read:fs': sections.filter(({ type }) => type !== 'add').map(({ path }) => path),
      'write:fs': sections.flatMap(pathsOf),
      // Updates replace only what this call has read, and a moved file is kept.
      'danger:destructive': sections.filter(({ type }) => type === 'delete').map(({ path }) => path),
    }
  },
  preview: ({ input }, ctx) => previewPatch(parsePatch(input), ctx),
  callers: ['direct', 'script'],
  timeoutMs: 60_000,
  category: 'write',
  tags: ['file', 'text', 'patch', 'edit'],
  version: '1.0.0',
  examples: [
    {
      input: { input: '*** Begin Patch\n*** Add File: hello.txt\n+Hello\n*** End Patch' },
      note: 'a new file',
    },
    {
      input: {
        input: '*** Begin Patch\n*** Update File: app.py\n@@ def main():\n-    pass\n+    run()\n*** End Patch',
      },
      note: 'one line after another',
    },
  ],
  dialects: { coding: { name: 'apply_patch', argumentAliases: { patch: 'input' } } },
  async execute({ input }, ctx) {
    const { changes, files } = await planPatch(parsePatch(input), ctx)
    await ctx.fs.changeAll(changes)
    for (const file of files) ctx.evidence({ type: 'file', ref: file.to ?? file.path, summary: describeFile(file) })
    return { files: [...files] }
  },
  toModel: ({ files }) => ['Applied the patch:', ...files.map(describeFile)].join('\n'),
})

function describeFile({ path, change, to, added, removed }: PatchedFile): string {
  const where = to === undefined ? path : `${path} -> ${to}`
  return change === 'deleted' ? `deleted ${where}` : `${change} ${where} (+${added} -${removed})`
}

/** What a patch would change in each file, in its order. */
async function previewPatch(sections: readonly PatchSection[], ctx: ReadContext): Promise<TextChange[]> {
  const { changes } = await planPatch(sections, ctx)
  const origins = new Map<string, string>()
  for (const change of changes) {
    if (change.type === 'remove' && change.movedTo !== undefined) origins.set(change.movedTo, change.path)
  }
  const previews: TextChange[] = []
  for (const change of changes) {
    ctx.signal.throwIfAborted()
    const preview = await previewChange(change, origins, ctx)
    if (preview !== undefined) previews.push(preview)
  }
  return previews
}

async function previewChange(
  change: FileChange,
  origins: ReadonlyMap<string, string>,
  ctx: ReadContext,
): Promise<TextChange | undefined> {
  const { path } = change
  if (change.type === 'remove') return change.movedTo === undefined ? previewRemoval(path, ctx) : undefined
  // A plan contains whole texts.
  const after = change.content as string
  if (change.type === 'replace') return { path, before: await textOf(path, ctx), after }
  const origin = origins.get(path)
  if (origin === undefined) return { path, before: undefined, after }
  return { path: origin, movedTo: path, before: await textOf(origin, ctx), after }
}

/** A patch may delete any file; one that is not text cannot be shown. */
async function previewRemoval(path: string, { fs }: ReadContext): Promise<TextChange | undefined> {
  try {
    return { path, before: await fs.readText(path), after: undefined }
  } catch (error) {
    if (ToolError.is(error) && error.code === 'INPUT_SCHEMA_INVALID') return undefined
    throw error
  }
}

/** With its byte order mark, which the text after the patch has too. */
async function textOf(path: string, ctx: ReadContext): Promise<string> {
  const { mark, text } = await readSource(path, ctx)
  return mark + text
}
