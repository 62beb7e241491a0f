import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type FileState, isRunId, type KeptChange, lazyModule, ToolError } from '@tool-hub/core'
import { errnoOf, escapeLine, escapeText } from '@tool-hub/core/lib'
import type { FileChangeEntry } from '@tool-hub/core/protocol'
import { type Hub, readMarks } from '@tool-hub/runtime/hub'
import { type RecordedChange, readChangeHistory, readKept } from '@tool-hub/runtime/records/undo'
import { openRegular } from '@tool-hub/sandbox/system'

const MAX_BYTES = 500_000

const loadDiff = lazyModule(() => import('diff'))

const MAX_CHANGES = 1_000
const MAX_DIFFS = 100
const DIFFS_MS = 2_000
const MAX_DIFF_LINES = 400
const MAX_DIFF_CHARS = 60_000

/** What undo does to the path of a change. */
const UNDONE_BY: Readonly<Record<KeptChange['op'], string>> = {
  create: 'remove',
  replace: 'restore',
  remove: 'restore',
  'make-folder': 'remove',
  'remove-folder': 'restore',
  'create-tree': 'remove',
  'remove-tree': 'restore',
  move: 'move back',
}

interface Help {
  readonly hub: Pick<Hub, 'explain'>
  readonly hideSecrets: (text: string) => string
}

/**
 * Lists the files that a run changed, newest first, from the record. Whether a change can be undone now, an undo with
 * `dryRun` tells.
 */
export async function fileChanges(root: string, run: string, help: Help): Promise<FileChangeEntry[]> {
  const shownId = JSON.stringify(run.slice(0, 64))
  if (!isRunId(run)) throw new ToolError('NOT_FOUND', `${shownId} is not the id of a run.`)
  const { changes } = await readChangeHistory(join(root, run))
  const marks = changes.length === 0 ? undefined : await readMarks(root, changes[0]!.time)
  const shown: FileChangeEntry[] = []
  const until = performance.now() + DIFFS_MS
  for (const recorded of changes.toReversed().slice(0, MAX_CHANGES)) {
    const isUndone = marks?.isUndone(recorded) === true
    const hasTime = shown.length < MAX_DIFFS && performance.now() < until
    const diff = hasTime ? await diffOf(root, recorded, changes, help) : undefined
    shown.push({ ...describe(recorded, isUndone), ...(diff !== undefined && { diff }) })
  }
  return shown
}

function describe({ callId, tool, change }: RecordedChange, isUndone: boolean): FileChangeEntry {
  const { op, path, notUndoable } = change
  const entry = { callId, tool: escapeLine(tool), path: escapeLine(path) }
  if (notUndoable !== undefined) return { ...entry, action: 'not undoable', reason: escapeLine(notUndoable) }
  return { ...entry, action: isUndone ? 'already' : UNDONE_BY[op] }
}

/**
 * Diff from the content after the call to the content before it, if policy allows to read the file; `undefined` if it
 * is not text or too large.
 */
async function diffOf(
  root: string,
  recorded: RecordedChange,
  changes: readonly RecordedChange[],
  { hub, hideSecrets }: Help,
): Promise<string | undefined> {
  const { run, change } = recorded
  try {
    const { effect } = await hub.explain('core/fs.readText', { path: change.path }, { run })
    if (effect !== 'allow') return undefined
    const texts = await changeTexts(join(root, run), change, changes)
    if (!texts) return undefined
    const { createTwoFilesPatch } = await loadDiff()
    // Comparing a file that changed entirely would take minutes.
    const options = { timeout: 500 }
    const { after, before } = texts
    const patch = createTwoFilesPatch('as it was left', 'before', after, before, undefined, undefined, options)
    return patch && escapeText(cut(hideSecrets(patch)))
  } catch (error) {
    // The diff is optional: an unreadable file has none, and undo reports why.
    if (ToolError.is(error)) return undefined
    throw error
  }
}

function cut(patch: string): string {
  // The first line has only equal signs.
  const lines = patch.replace(/\n$/, '').split('\n').slice(1)
  const more = lines.length - MAX_DIFF_LINES
  const text = more > 0 ? `${lines.slice(0, MAX_DIFF_LINES).join('\n')}\n… ${more} more lines` : lines.join('\n')
  const left = text.length - MAX_DIFF_CHARS
  return left <= 0 ? text : `${text.slice(0, MAX_DIFF_CHARS)}\n… ${left} more characters`
}

/**
 * Returns the content of a file before and after a change; `undefined` if one of them is not text, too large or no
 * longer available.
 */
async function changeTexts(
  folder: string,
  change: KeptChange,
  all: readonly RecordedChange[],
): Promise<{ readonly before: string; readonly after: string } | undefined> {
  if (change.op !== 'create' && change.op !== 'replace' && change.op !== 'remove') return undefined
  const before = change.op === 'create' ? '' : await keptText(folder, change.before)
  const after = change.op === 'remove' ? '' : await leftText(folder, change.path, change.after, all)
  return before === undefined || after === undefined ? undefined : { before, after }
}

/** The content after a call: kept by a later change of the run, or else the current file. */
async function leftText(
  folder: string,
  path: string,
  state: FileState,
  all: readonly RecordedChange[],
): Promise<string | undefined> {
  const isKept = all.some(({ change }) => 'before' in change && change.before.sha256 === state.sha256)
  return (isKept ? await keptText(folder, state) : undefined) ?? presentText(path, state)
}

async function keptText(folder: string, state: FileState): Promise<string | undefined> {
  if (state.bytes > MAX_BYTES || state.sha256 === '') return undefined
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of readKept(folder, state)) pieces.push(piece)
    return asText(Buffer.concat(pieces))
  } catch (error) {
    if (ToolError.is(error)) return undefined
    throw error
  }
}

async function presentText(path: string, { sha256, bytes }: FileState): Promise<string | undefined> {
  if (bytes > MAX_BYTES) return undefined
  try {
    const file = await openRegular(path)
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes + 1), 0, bytes + 1, 0)
      const content = buffer.subarray(0, bytesRead)
      return createHash('sha256').update(content).digest('hex') === sha256 ? asText(content) : undefined
    } finally {
      await file.close()
    }
  } catch (error) {
    // The file was removed, moved or replaced since the call.
    if (ToolError.is(error) || errnoOf(error) !== undefined) return undefined
    throw error
  }
}

function asText(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    // Not UTF-8, so it has no diff.
    return undefined
  }
}
