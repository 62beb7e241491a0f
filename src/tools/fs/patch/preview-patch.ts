import type { FileChange } from '../../../contracts/handles.ts'
import type { ReadContext, TextChange } from '../../../define.ts'
import { ToolError } from '../../../errors.ts'
import { readSource } from '../read/read-source.ts'
import type { PatchSection } from './patch.ts'
import { planPatch } from './plan-patch.ts'

/** What a patch would make of each file that it names, in its own order. */
export async function previewPatch(sections: readonly PatchSection[], ctx: ReadContext): Promise<TextChange[]> {
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
  // A plan holds whole texts.
  const after = change.content as string
  if (change.type === 'replace') return { path, before: await textOf(path, ctx), after }
  const origin = origins.get(path)
  if (origin === undefined) return { path, before: undefined, after }
  return { path: origin, movedTo: path, before: await textOf(origin, ctx), after }
}

/** A patch may delete any file; one that is no text has nothing to show. */
async function previewRemoval(path: string, { fs }: ReadContext): Promise<TextChange | undefined> {
  try {
    return { path, before: await fs.readText(path), after: undefined }
  } catch (error) {
    if (ToolError.is(error) && error.code === 'INPUT_SCHEMA_INVALID') return undefined
    throw error
  }
}

/** With its mark, which the text after the patch has too. */
async function textOf(path: string, ctx: ReadContext): Promise<string> {
  const { mark, text } = await readSource(path, ctx)
  return mark + text
}
