import { join } from 'node:path'
import { isRunId, ToolError } from '../../core/index.ts'
import { listRuns, type RunInfo } from '../../records/log/index.ts'
import { type RecordedChange, type RunHistory, readChangeHistory } from '../../records/undo/index.ts'

/** The tool that takes changes back; only the owner calls it, by `hub.undo`. */
export const UNDO_TOOL = 'core/fs.undo'

/** Which changes are to be taken back; those of the last call that changed files and was not undone, unless said. */
export interface UndoWish {
  /** Only the changes of this call. */
  readonly call?: string
  /** All changes of this run, or where `call` is looked for. */
  readonly run?: string
}

/** The changes that are meant, oldest first and all of one run; none when there are none. */
export async function findChanges(root: string, { call, run }: UndoWish): Promise<readonly RecordedChange[]> {
  if (call !== undefined) return findCall(root, call, run)
  return run !== undefined ? changesOf(root, run) : findLast(root)
}

/** What is known of undos since a time: an undo is on record in a run that ended after the change. */
export async function readMarks(root: string, since: string): Promise<UndoneMarks> {
  const marks = new UndoneMarks()
  for (const { id, ended } of latestFirst(await listRuns(root))) {
    if (ended < since) break
    marks.add(await readChangeHistory(join(root, id)))
  }
  return marks
}

async function findCall(root: string, callId: string, run: string | undefined): Promise<readonly RecordedChange[]> {
  const runs = run === undefined ? latestFirst(await listRuns(root)).map(({ id }) => id) : [run]
  for (const id of runs) {
    const found = (await changesOf(root, id)).filter((change) => change.callId === callId)
    if (found.length > 0) return found
  }
  throw new ToolError('NOT_FOUND', `No call ${JSON.stringify(callId.slice(0, 64))} that changed files is on record.`, {
    hint: 'tool-hub runs show --json lists the calls of a run with their changes.',
  })
}

/** Undos themselves are undone only when they are named: two in a row would do nothing. */
async function findLast(root: string): Promise<readonly RecordedChange[]> {
  const all: RecordedChange[] = []
  const marks = new UndoneMarks()
  let last: RecordedChange | undefined
  for (const { id, ended } of latestFirst(await listRuns(root))) {
    if (last && ended < last.time) break
    const history = await readChangeHistory(join(root, id))
    marks.add(history)
    for (const change of history.changes) if (change.tool !== UNDO_TOOL) all.push(change)
    last = all.reduce<RecordedChange | undefined>((a, b) => (marks.isUndone(b) ? a : later(a, b)), undefined)
  }
  return last ? all.filter(({ run, callId }) => run === last.run && callId === last.callId) : []
}

/** Of two in the same millisecond the first counts: runs come latest first. */
function later(a: RecordedChange | undefined, b: RecordedChange): RecordedChange {
  if (!a || a.time < b.time) return b
  return a.time === b.time && a.run === b.run && a.seq < b.seq ? b : a
}

function latestFirst(runs: readonly RunInfo[]): RunInfo[] {
  return runs.toSorted((a, b) => (a.ended < b.ended ? 1 : a.ended > b.ended ? -1 : 0))
}

async function changesOf(root: string, run: string): Promise<readonly RecordedChange[]> {
  const shown = JSON.stringify(run.slice(0, 64))
  if (isRunId(run)) return (await readChangeHistory(join(root, run))).changes
  throw new ToolError('NOT_FOUND', `${shown} is not the id of a run.`, { hint: 'List the runs with tool-hub runs.' })
}

/** Which changes were taken back, by undos that were not taken back themselves. */
export class UndoneMarks {
  /** Who took a change back. */
  readonly #by = new Map<string, string[]>()
  readonly #changesOf = new Map<string, string[]>()

  /** Takes up the record of a run. */
  add({ changes, undone }: RunHistory): void {
    for (const change of changes) append(this.#changesOf, change.callId, keyOf(change))
    for (const { by, ...change } of undone) append(this.#by, keyOf(change), by)
  }

  /** `except` are calls that are about to be undone: what they took back is no longer so. */
  isUndone(change: Pick<RecordedChange, 'run' | 'seq'>, except: ReadonlySet<string> = new Set()): boolean {
    return this.#isUndone(keyOf(change), except)
  }

  #isUndone(key: string, except: ReadonlySet<string>): boolean {
    return (this.#by.get(key) ?? []).some((by) => !except.has(by) && this.#holds(by, except))
  }

  /** An undo of which a part was undone counts as undone: then only the files tell how things are. */
  #holds(by: string, except: ReadonlySet<string>): boolean {
    // No undo undoes itself, but a record can have been tampered with.
    const above = new Set(except).add(by)
    return !(this.#changesOf.get(by) ?? []).some((key) => this.#isUndone(key, above))
  }
}

function keyOf({ run, seq }: Pick<RecordedChange, 'run' | 'seq'>): string {
  return `${run} ${seq}`
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const present = map.get(key)
  if (present) present.push(value)
  else map.set(key, [value])
}
