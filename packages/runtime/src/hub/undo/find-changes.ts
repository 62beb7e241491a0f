import { join } from 'node:path'
import { isRunId, ToolError } from '@tool-hub/core'
import { listRuns, type RunInfo } from '../../records/log/index.ts'
import { type RecordedChange, type RunHistory, readChangeHistory } from '../../records/undo/index.ts'

/** The tool that undoes changes; only the owner calls it, through `hub.undo`. */
export const UNDO_TOOL = 'core/fs.undo'

/** The changes to undo. Default: those of the last call of the hub that changed files and was not undone. */
export interface UndoSelection {
  /** Only the changes of this call. */
  readonly call?: string
  /** All changes of this run; with `call`, the run in which the call is looked up. */
  readonly run?: string
}

/**
 * Returns the selected changes of one run, oldest first. Throws NOT_FOUND if the call or run does not exist. `isCandidate`
 * says which runs are searched for the last call.
 */
export async function findChanges(
  root: string,
  { call, run }: UndoSelection,
  isCandidate: (run: string) => boolean = () => true,
): Promise<readonly RecordedChange[]> {
  if (call !== undefined) return findCall(root, call, run)
  return run !== undefined ? changesOf(root, run) : findLast(root, isCandidate)
}

/** Reads which changes were undone since a time: an undo is recorded in a run that ended after the change. */
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

/** Returns the last change that is not an undo. An undo is undone only by its id; otherwise two undos would cancel out. */
async function findLast(root: string, isCandidate: (run: string) => boolean): Promise<readonly RecordedChange[]> {
  const all: RecordedChange[] = []
  const marks = new UndoneMarks()
  let last: RecordedChange | undefined
  for (const { id, ended } of latestFirst(await listRuns(root))) {
    if (last && ended < last.time) break
    const history = await readChangeHistory(join(root, id))
    marks.add(history)
    for (const change of isCandidate(id) ? history.changes : []) if (change.tool !== UNDO_TOOL) all.push(change)
    last = all.reduce<RecordedChange | undefined>((a, b) => (marks.isUndone(b) ? a : later(a, b)), undefined)
  }
  return last ? all.filter(({ run, callId }) => run === last.run && callId === last.callId) : []
}

/** Returns the later change. For the same millisecond it is the first, because runs are read latest first. */
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

/** The changes that were undone, by undos that were not undone themselves. */
export class UndoneMarks {
  /** The undos of each change. */
  readonly #by = new Map<string, string[]>()
  readonly #changesOf = new Map<string, string[]>()

  /** Adds the history of a run. */
  add({ changes, undone }: RunHistory): void {
    for (const change of changes) append(this.#changesOf, change.callId, keyOf(change))
    for (const { by, ...change } of undone) append(this.#by, keyOf(change), by)
  }

  /** Returns whether a change is undone. `except` are undos that are about to be undone themselves, so they do not count. */
  isUndone(change: Pick<RecordedChange, 'run' | 'seq'>, except: ReadonlySet<string> = new Set()): boolean {
    return this.#isUndone(keyOf(change), except)
  }

  #isUndone(key: string, except: ReadonlySet<string>): boolean {
    return (this.#by.get(key) ?? []).some((by) => !except.has(by) && this.#holds(by, except))
  }

  /** Returns whether an undo still applies. A partly undone undo does not: only the files show the current state. */
  #holds(by: string, except: ReadonlySet<string>): boolean {
    // An undo never undoes itself, but a record may have been tampered with.
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
