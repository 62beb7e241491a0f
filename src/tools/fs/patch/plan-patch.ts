import type { FileChange } from '../../../contracts/handles.ts'
import type { ReadContext } from '../../../define.ts'
import { ToolError } from '../../../errors.ts'
import { quote } from '../quote.ts'
import { readSource } from '../read/read-source.ts'
import type { PatchSection } from './patch.ts'
import { updateText } from './update-text.ts'

/** What became of one file. */
export interface PatchedFile {
  readonly path: string
  readonly change: 'added' | 'updated' | 'deleted' | 'moved'
  /** Where it was moved. */
  readonly to?: string
  /** Lines that came and went. */
  readonly added: number
  readonly removed: number
}

/** What a patch will do: the changes for the guard, and how they are told. */
export interface PatchPlan {
  readonly changes: readonly FileChange[]
  readonly files: readonly PatchedFile[]
}

/** Reads what a patch touches and works out all changes; nothing is changed yet. */
export async function planPatch(sections: readonly PatchSection[], ctx: ReadContext): Promise<PatchPlan> {
  const changes: FileChange[] = []
  const files: PatchedFile[] = []
  const seen = new Set<string>()
  for (const section of sections) {
    ctx.signal.throwIfAborted()
    const planned = await planSection(section, seen, ctx)
    changes.push(...planned.changes)
    files.push(planned.file)
  }
  return { changes, files }
}

interface PlannedSection {
  readonly changes: readonly FileChange[]
  readonly file: PatchedFile
}

async function planSection(section: PatchSection, seen: Set<string>, ctx: ReadContext): Promise<PlannedSection> {
  const { path } = section
  if (section.type === 'add') {
    const content = section.lines.map((line) => `${line}\n`).join('')
    const file = { path, change: 'added', added: section.lines.length, removed: 0 } as const
    return { changes: [{ type: 'create', path, content }], file }
  }
  if (section.type === 'delete') {
    const { sha256, path: realPath } = await ctx.fs.sha256(path)
    checkOnce(seen, realPath, path)
    const file = { path, change: 'deleted', added: 0, removed: 0 } as const
    return { changes: [{ type: 'remove', path, replaces: sha256 }], file }
  }

  const source = await readSource(path, ctx)
  checkOnce(seen, source.path, path)
  const { text, added, removed } = updateText(source.text, section.chunks, path)
  const content = source.mark + text
  const replaces = source.sha256
  const { to } = section
  if (to === undefined) {
    return {
      changes: [{ type: 'replace', path, content, replaces }],
      file: { path, change: 'updated', added, removed },
    }
  }
  const { mode } = await ctx.fs.stat(path)
  const changes: FileChange[] = [
    { type: 'create', path: to, content, mode },
    { type: 'remove', path, replaces, movedTo: to },
  ]
  return { changes, file: { path, change: 'moved', to, added, removed } }
}

/** Two spellings, a link or an absolute path among relative ones, may lead to one file. */
function checkOnce(seen: Set<string>, realPath: string, path: string): void {
  if (seen.has(realPath)) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quote(path)} is a file that the patch names already.`, {
      fix: { key: 'input', hint: 'Put all changes of a file into one section.' },
    })
  }
  seen.add(realPath)
}
