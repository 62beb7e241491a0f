import { setImmediate } from 'node:timers/promises'
import { type ApprovalView, lazyModule, type ReadFiles, type TextChange, ToolError } from '@tool-hub/core'
import { revealLine, revealText, untilAborted } from '@tool-hub/core/lib'
import { decide } from '@tool-hub/policy'
import { z } from 'zod'
import type { DecisionRedactor } from '../../../records/redaction/index.ts'
import type { RunState } from '../../run-state.ts'
import type { Runtime } from '../../runtime.ts'
import type { DecidedCall, ValidCall } from '../call.ts'
import { question } from '../decide.ts'

/** The change of a file. */
type DiffView = Extract<ApprovalView, { kind: 'diff' }>

/** Start of a view that is incomplete; no diff starts like this. */
export const NOT_WHOLE = 'NOT SHOWN WHOLE: '

const MAX_FILES = 20
/** The limit for all diffs together: a request is stored and sent to every watcher. */
const MAX_CHARS_OF_ALL = 500_000

// A tool in plain JavaScript may return anything.
const textChanges = z.array(
  z.object({
    path: z.string().max(4_096),
    movedTo: z.string().max(4_096).optional(),
    before: z.string().optional(),
    after: z.string().optional(),
  }),
)

/** The content of files before and after a call, as its tool previews it. */
export type PreviewedChanges = Readonly<z.output<typeof textChanges>>

/** Returns the file changes that the tool previews, or none if it has no preview, fails or takes too long. */
export async function diffViews(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  redactor: DecisionRedactor,
): Promise<readonly DiffView[]> {
  const { tool } = decided.tool
  if (tool.preview === undefined) return []
  try {
    return await lookBriefly(runtime, decided, async (signal) => {
      const changes = await previewWith(runtime, run, decided, signal)
      const views: DiffView[] = []
      for (const { before, after, ...names } of changes.slice(0, MAX_FILES)) {
        views.push(await diffView(redactor, { ...names, before, after }))
        // Other work gets a turn between two files.
        await setImmediate(undefined, { signal })
      }
      return bound(views, changes.length - views.length)
    })
  } catch {
    // A preview only helps the approver: the call itself reports what is wrong.
    return []
  }
}

/** Returns the content of files before and after a call, as its tool previews it. Throws if it has no preview. */
export function previewChanges(runtime: Runtime, run: RunState, decided: DecidedCall): Promise<PreviewedChanges> {
  return lookBriefly(runtime, decided, (signal) => previewWith(runtime, run, decided, signal))
}

async function previewWith(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  signal: AbortSignal,
): Promise<PreviewedChanges> {
  const ctx = { fs: previewFiles(runtime, run, decided, signal), signal }
  // Copied: the preview must not change the input that is executed.
  return textChanges.parse(await decided.tool.tool.preview!(structuredClone(decided.valid.input), ctx))
}

/** Shortens diffs that are too long in total to their start and end, with a note. */
function bound(views: readonly DiffView[], leftOut: number): DiffView[] {
  let room = MAX_CHARS_OF_ALL
  const bounded = views.map((view) => {
    room -= view.diff.length
    if (room >= 0 || showEnds(view.diff) === view.diff) return view
    return { ...view, diff: `${NOT_WHOLE}the changes of this call are too long.\n${showEnds(view.diff)}` }
  })
  if (leftOut === 0) return bounded
  const path = `${leftOut} more files`
  return [
    ...bounded,
    { kind: 'diff', path, diff: `${NOT_WHOLE}only the first ${MAX_FILES} files are shown.`, isNew: false },
  ]
}

const loadDiff = lazyModule(() => import('diff'))

const MAX_COMPARED_BYTES = 200_000
const MAX_DIFF_LINES = 2_000
const MAX_DIFF_MS = 200
const NOWHERE = '/dev/null'

/** Returns the change of a file as a unified diff without secrets, or as a sentence if it has no diff. */
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

/** The sentence for a change without a diff. */
function noteOf({ movedTo, before, after }: TextChange): string | undefined {
  if (before === undefined && after === '') return 'A new, empty file.'
  if (before === '' && after === undefined) return 'The file is deleted; it is empty.'
  if (before !== after) return undefined
  return movedTo === undefined ? 'Its text does not change.' : 'The file is moved; its text does not change.'
}

/** Redacts before comparing: in a diff, a secret of several lines could no longer be recognised. */
async function unifiedDiff(
  redactor: DecisionRedactor,
  { before = '', after = '' }: TextChange,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string> {
  const [old, now] = withPlainEnds(redactor.text(before), redactor.text(after))
  if (old === now) return 'Not shown: only a secret or the line endings change.'
  const bytes = Math.max(Buffer.byteLength(before), Buffer.byteLength(after))
  if (bytes > MAX_COMPARED_BYTES) return tooLarge(old, now, bytes)
  if (leastEdits(old, now) > MAX_DIFF_LINES) return tooLong(old, now)
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await loadDiff()
  // Named here: the package writes other letters than ASCII as octal codes, which nobody can read.
  const patch = createTwoFilesPatch('', '', old, now, undefined, undefined, {
    // A longer edit has more lines than are shown, and computing it blocks the process.
    maxEditLength: MAX_DIFF_LINES,
    timeout: MAX_DIFF_MS,
    headerOptions: FILE_HEADERS_ONLY,
  })
  // Spaces at the end belong to the last line.
  const shown = patch?.replace(/^.*\n.*\n/, () => `--- ${from}\n+++ ${to}\n`).replace(/\n$/, '')
  if (shown === undefined || shown.split('\n').length > MAX_DIFF_LINES) return tooLong(old, now)
  return revealText(shown)
}

/** Returns a lower bound of the number of changed lines, which avoids the slow comparison if everything is new. */
function leastEdits(before: string, after: string): number {
  const counts = new Map<string, number>()
  for (const line of before.split('\n')) counts.set(line, (counts.get(line) ?? 0) - 1)
  for (const line of after.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1)
  let edits = 0
  for (const count of counts.values()) edits += Math.abs(count)
  return edits
}

/** Hides Windows line endings if all lines have them. An ending that changes, or differs from the others, is shown. */
function withPlainEnds(before: string, after: string): readonly [string, string] {
  const isWindows = [before, after].every((text) => text === '' || isAllWindows(text))
  return isWindows ? [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')] : [before, after]
}

function isAllWindows(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text)
}

function tooLarge(before: string, after: string, bytes: number): string {
  const why = `the text has ${bytes} bytes, at most ${MAX_COMPARED_BYTES} are compared.`
  return revealText(changedLines(before, after, why))
}

function tooLong(before: string, after: string): string {
  const [old, now] = [before, after].map((text) => text.split('\n').length)
  const why = `the change has more than ${MAX_DIFF_LINES} lines; the file has ${old} lines now and ${now} after it.`
  return revealText(changedLines(before, after, why))
}

/** Shows a change without comparing it, and why: the lines from the first to the last change, shortened if too long. */
export function changedLines(before: string, after: string, why: string): string {
  const start = commonStart(before, after)
  const end = commonEnd(before.slice(start), after.slice(start))
  const removed = before.slice(start, before.length - end)
  const added = after.slice(start, after.length - end)
  const shown = [prefixed('-', showEnds(removed)), prefixed('+', showEnds(added))]
  const isWhole = [removed, added].every((text) => showEnds(text) === text)
  return [`${isWhole ? 'Not compared: ' : NOT_WHOLE}${why}`, ...shown].filter((text) => text !== '').join('\n')
}

function prefixed(sign: string, text: string): string {
  if (text === '') return ''
  // Split at line feeds only: a lone carriage return is part of a line, and is shown there.
  const lines = text.replace(/\n$/, '').split('\n')
  return lines.map((line) => sign + line).join('\n')
}

/** Returns the length of the whole lines that both texts start with. */
function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let index = 0
  while (index < most && a.charCodeAt(index) === b.charCodeAt(index)) index++
  return index === 0 ? 0 : a.lastIndexOf('\n', index - 1) + 1
}

/** Returns the length of the whole lines that both texts end with. */
function commonEnd(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a.charCodeAt(a.length - 1 - count) === b.charCodeAt(b.length - 1 - count)) count++
  if (isLineStart(a, a.length - count) && isLineStart(b, b.length - count)) return count
  const line = a.indexOf('\n', a.length - count)
  return line === -1 ? 0 : a.length - line - 1
}

function isLineStart(text: string, index: number): boolean {
  return index === 0 || text[index - 1] === '\n'
}

const MAX_SHOWN_CHARS = 8_000

/** Shortens a long text to its start and end and states how much is missing: the end may be what matters. */
export function showEnds(text: string): string {
  const left = text.length - MAX_SHOWN_CHARS
  if (left <= 0) return text
  const half = MAX_SHOWN_CHARS / 2
  const tail = text.slice(-half)
  // Marks a partial line, whose first character is not a diff sign.
  const isPart = text.at(-half - 1) !== '\n'
  return `${text.slice(0, half)}\n… ${left} characters in between are not shown …\n${isPart ? '…' : ''}${tail}`
}

const OF_FILES: ReadonlySet<string> = new Set(['read:fs', 'write:fs', 'danger:destructive'])

/**
 * Returns the files that a preview may read: the targets of its call, unless a rule denies reading them. The hub reads them
 * for the approver, so they neither count as read by the run nor taint it.
 */
function previewFiles(runtime: Runtime, run: RunState, decided: DecidedCall, signal: AbortSignal): ReadFiles {
  const mayRead = (path: string) => isTarget(decided.valid, path) && !isKept(runtime, run, decided, path)
  const permits = (path: string) => {
    if (!mayRead(path)) throw new ToolError('PATH_DENIED', `A preview of ${decided.call.name} may not read ${path}.`)
  }
  const only = { canRead: true, canWrite: false, canOverwrite: false }
  return run.sandbox.files().handle({ ...only, signal: () => signal, permits, mayRead }) as ReadFiles
}

function isTarget({ targets }: ValidCall, path: string): boolean {
  return targets.some(
    ({ capability, value }) => OF_FILES.has(capability) && (path === value || path.startsWith(`${value}/`)),
  )
}

function isKept(runtime: Runtime, run: RunState, decided: DecidedCall, path: string): boolean {
  const capability = 'read:fs'
  const targets = [{ capability, value: path }] as const
  // The grants of a call restrict its tool, not what an approver may see.
  const asked = {
    ...question(runtime, run, decided.valid),
    grants: undefined,
    capabilities: [capability],
    targets,
  } as const
  return decide(runtime.policy, asked).effect === 'deny'
}

const MAX_MS = 2_000

/** Looks something up for the approver, for at most two seconds and not past the end of the call. */
export async function lookBriefly<T>(
  { clock }: Runtime,
  decided: DecidedCall,
  look: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const cancelTimer = clock.after(MAX_MS, () => {
    controller.abort(new ToolError('TIMEOUT', `The lookup took longer than ${MAX_MS} ms.`))
  })
  const stopListening = decided.call.onStop((reason) => controller.abort(reason))
  try {
    return await untilAborted(look(controller.signal), controller.signal)
  } finally {
    cancelTimer()
    stopListening()
    // Handles that the preview kept stop working.
    controller.abort()
  }
}
