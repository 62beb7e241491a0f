import { join } from 'node:path'
import type { KeptChange } from '../../change.ts'
import { lazyModule } from '../../disk/lazy-module.ts'
import { ToolError } from '../../errors.ts'
import { readMarks } from '../../hub/undo/find-changes.ts'
import type { Hub } from '../../hub.ts'
import { isRunId } from '../../names.ts'
import { type RecordedChange, readHistory } from '../../record/undo/read-history.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import type { FileChange } from '../api/runs.ts'
import { changeTexts } from './change-texts.ts'

const loadDiff = lazyModule(() => import('diff'))

const MOST_CHANGES = 1_000
const MOST_DIFFS = 100
const DIFFS_MS = 2_000
const MOST_DIFF_LINES = 400
const MOST_DIFF_CHARS = 60_000

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
export async function fileChanges(root: string, run: string, help: Help): Promise<FileChange[]> {
  const shownId = JSON.stringify(run.slice(0, 64))
  if (!isRunId(run)) throw new ToolError('NOT_FOUND', `${shownId} is not the id of a run.`)
  const { changes } = await readHistory(join(root, run))
  const marks = changes.length === 0 ? undefined : await readMarks(root, changes[0]!.time)
  const shown: FileChange[] = []
  const until = performance.now() + DIFFS_MS
  for (const recorded of changes.toReversed().slice(0, MOST_CHANGES)) {
    const isUndone = marks?.isUndone(recorded) === true
    const hasTime = shown.length < MOST_DIFFS && performance.now() < until
    const diff = hasTime ? await diffOf(root, recorded, changes, help) : undefined
    shown.push({ ...describe(recorded, isUndone), ...(diff !== undefined && { diff }) })
  }
  return shown
}

function describe({ callId, tool, change }: RecordedChange, isUndone: boolean): FileChange {
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
  const more = lines.length - MOST_DIFF_LINES
  const text = more > 0 ? `${lines.slice(0, MOST_DIFF_LINES).join('\n')}\n… ${more} more lines` : lines.join('\n')
  const left = text.length - MOST_DIFF_CHARS
  return left <= 0 ? text : `${text.slice(0, MOST_DIFF_CHARS)}\n… ${left} more characters`
}
