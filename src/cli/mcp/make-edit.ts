import { escapeLine, escapeText } from '../../lib/index.ts'
import { print, printJson, say } from '../output/print.ts'
import { applyEdit, diffOf, type FileEdit } from './file-edit.ts'

/** Shows a change and makes it, unless it is only to be shown. */
export async function makeEdit(
  edit: FileEdit,
  { dryRun, json, more }: { readonly dryRun?: boolean; readonly json?: boolean; readonly more?: object },
  next: readonly string[],
): Promise<void> {
  const { before, after } = edit
  const isSame = before === after
  const diff = diffOf(edit)
  const backup = isSame || dryRun ? undefined : applyEdit(edit)
  if (json) return printJson({ file: edit.file, changed: !isSame && !dryRun, ...(backup && { backup }), diff, ...more })
  const file = escapeLine(edit.file)
  if (isSame) return say(`${file} says so already.`)
  await print(escapeText(diff))
  if (dryRun) return say(`Nothing was changed; without --dry-run ${file} would be.`)
  say(`Changed ${file}${backup === undefined ? '' : `; as it was: ${escapeLine(backup)}`}.`)
  for (const line of next) say(escapeLine(line))
}
