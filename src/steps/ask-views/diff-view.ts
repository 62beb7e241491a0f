import type { TextChange } from '../../define.ts'
import { lazyModule } from '../../disk/lazy-module.ts'
import type { DecisionRedactor } from '../../record/decision-redactor.ts'
import { revealLine, revealText } from '../../value/escape-text.ts'
import { changedLines } from './changed-lines.ts'
import type { DiffView } from './view-types.ts'

const loadDiff = lazyModule(() => import('diff'))

const MOST_BYTES = 200_000
const MOST_LINES = 2_000
const MOST_MS = 200
const NOWHERE = '/dev/null'

/** What would become of a file, as a unified diff without secrets; a sentence instead where there is none to show. */
export async function diffView(redactor: DecisionRedactor, change: TextChange): Promise<DiffView> {
  const { path, movedTo = path, before, after } = change
  const show = (text: string) => revealLine(redactor.text(text))
  const names = {
    from: before === undefined ? NOWHERE : show(path),
    to: after === undefined ? NOWHERE : show(movedTo),
  }
  const shownPath = movedTo === path ? show(path) : `${show(path)} -> ${show(movedTo)}`
  const diff = noteOf(change) ?? (await unifiedDiff(redactor, change, names))
  return { kind: 'diff', path: shownPath, diff, isNew: before === undefined }
}

/** What there is to say where no diff is made. */
function noteOf({ movedTo, before, after }: TextChange): string | undefined {
  if (before === undefined && after === '') return 'A new file without any text.'
  if (before === '' && after === undefined) return 'The file is deleted; it has no text.'
  if (before !== after) return undefined
  return movedTo === undefined ? 'Nothing changes in its text.' : 'The file is moved; its text stays as it is.'
}

/** Secrets go before the texts are compared: in a diff a secret of several lines would not look like one any more. */
async function unifiedDiff(
  redactor: DecisionRedactor,
  { before = '', after = '' }: TextChange,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string> {
  const [old, now] = withPlainEnds(redactor.text(before), redactor.text(after))
  if (old === now) return 'Not shown: only a secret changes, or how lines end.'
  const bytes = Math.max(Buffer.byteLength(before), Buffer.byteLength(after))
  if (bytes > MOST_BYTES) return tooLarge(old, now, bytes)
  if (leastEdits(old, now) > MOST_LINES) return tooLong(old, now)
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await loadDiff()
  const patch = createTwoFilesPatch(from, to, old, now, undefined, undefined, {
    // A longer edit has more lines than are shown, and nothing else runs while it is looked for.
    maxEditLength: MOST_LINES,
    timeout: MOST_MS,
    headerOptions: FILE_HEADERS_ONLY,
  })
  // Blanks at the end belong to the last line.
  const shown = patch?.replace(/\n$/, '')
  if (shown === undefined || shown.split('\n').length > MOST_LINES) return tooLong(old, now)
  return revealText(shown)
}

/** So many lines come and go at least, in whatever order: a quick look that spares the slow one where all is new. */
function leastEdits(before: string, after: string): number {
  const counts = new Map<string, number>()
  for (const line of before.split('\n')) counts.set(line, (counts.get(line) ?? 0) - 1)
  for (const line of after.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1)
  let edits = 0
  for (const count of counts.values()) edits += Math.abs(count)
  return edits
}

/** A file of Windows stays readable; a line end that changes, or stands among others, is shown. */
function withPlainEnds(before: string, after: string): readonly [string, string] {
  const isWindows = [before, after].every((text) => text === '' || isAllWindows(text))
  return isWindows ? [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')] : [before, after]
}

function isAllWindows(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text)
}

function tooLarge(before: string, after: string, bytes: number): string {
  const why = `the text has ${bytes} bytes, at most ${MOST_BYTES} are compared.`
  return revealText(changedLines(before, after, why))
}

function tooLong(before: string, after: string): string {
  const [old, now] = [before, after].map((text) => text.split('\n').length)
  const why = `the change has more than ${MOST_LINES} lines; the file has ${old} lines now and ${now} after it.`
  return revealText(changedLines(before, after, why))
}
