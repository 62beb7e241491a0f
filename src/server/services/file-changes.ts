import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type FileState, isRunId, type KeptChange, lazyModule, ToolError } from '../../core/index.ts'
import { type Hub, readMarks } from '../../hub/index.ts'
import { errnoOf, escapeLine, escapeText } from '../../lib/index.ts'
import type { FileChangeEntry } from '../../protocol/index.ts'
import { type RecordedChange, readChangeHistory, readKept } from '../../records/undo/index.ts'
import { openRegular } from '../../system/index.ts'

const MAX_BYTES = 500_000

const loadDiff = lazyModule(() => import('diff'))

const MAX_CHANGES = 1_000
const MAX_DIFFS = 100
const DIFFS_MS = 2_000
const MAX_DIFF_LINES = 400
const MAX_DIFF_CHARS = 60_000

/** What undoing a change does to its path. */
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
 * The files that a run changed, newest first, as the record tells it; nothing is rehearsed and nothing recorded. What
 * really can be taken back now, an undo with `dryRun` says.
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

/** From what the call left to what was before, where policy lets the file be read; nothing for what is no text or too large. */
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
    // An edit of everything would take minutes to compare, and nobody reads it.
    const options = { timeout: 500 }
    const { after, before } = texts
    const patch = createTwoFilesPatch('as it was left', 'before', after, before, undefined, undefined, options)
    return patch && escapeText(cut(hideSecrets(patch)))
  } catch (error) {
    // Only a help for the reader: what cannot be read is not shown, and undoing it says why.
    if (ToolError.is(error)) return undefined
    throw error
  }
}

function cut(patch: string): string {
  // The first line is a rule of equal signs.
  const lines = patch.replace(/\n$/, '').split('\n').slice(1)
  const more = lines.length - MAX_DIFF_LINES
  const text = more > 0 ? `${lines.slice(0, MAX_DIFF_LINES).join('\n')}\n… ${more} more lines` : lines.join('\n')
  const left = text.length - MAX_DIFF_CHARS
  return left <= 0 ? text : `${text.slice(0, MAX_DIFF_CHARS)}\n… ${left} more characters`
}

/** What a file held before and after a change; nothing when one of the two is no text, too large or no longer there. */
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

/** What a call left is what a later change of the run kept, or else what is there now. */
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
    // Gone, moved, a link by now: whatever it is, it is not what the call left.
    if (ToolError.is(error) || errnoOf(error) !== undefined) return undefined
    throw error
  }
}

function asText(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    // No text, no diff.
    return undefined
  }
}
