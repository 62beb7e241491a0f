import { type KeptChange, ToolError } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import type { RecordedChange } from '../../records/undo/index.ts'
import type { Rest } from './judge-change.ts'
import { isBefore, judgeChange, type Sight, type Step, type Verdict } from './judge-change.ts'
import type { Restorer } from './restorer.ts'

/** The outcome for one change. */
export interface UndoneChange {
  /** Absolute path of the file or folder. */
  readonly path: string
  /** What the call had done. */
  readonly op: KeptChange['op']
  /** What the undo did; nothing was changed for `already`, `refused` and `not undoable`. */
  readonly action: 'restored' | 'removed' | 'moved back' | 'already' | 'refused' | 'not undoable'
  /** The call that had made the change. */
  readonly call: string
  /** Why it was refused or cannot be undone; absent otherwise. */
  readonly reason?: string
  /** What undoing the change with `force` would change, as a unified diff. */
  readonly diff?: string
}

/** A change with its position in the records. */
export type TakenChange = Pick<RecordedChange, 'run' | 'seq' | 'callId' | 'change'>

/** Options of `undoChanges`. */
export interface UndoRun {
  readonly restorer: Restorer
  /** Also undoes changes to files that were changed since. */
  readonly force: boolean
  readonly signal: AbortSignal
  /** Returns whether an earlier undo has undone the change. */
  readonly isUndone: (change: TakenChange) => boolean
  /**
   * Called before the next change is processed, so that an undo after a crash can continue from there. `isUndone` is `false`
   * for a change that cannot be undone. Not called for a refused change, which may be undone later.
   */
  readonly onJudged: (change: TakenChange, isUndone: boolean) => void
  /** Returns what a forced step would change, or `undefined` if that cannot be shown. */
  readonly diff: (step: Step) => Promise<string | undefined>
}

const DONE = {
  'put-file': 'restored',
  'put-folder': 'restored',
  'put-tree': 'restored',
  'fill-tree': 'restored',
  'remove-file': 'removed',
  'remove-folder': 'removed',
  move: 'moved back',
} as const satisfies Record<Step['do'], UndoneChange['action']>

/** Undoes changes, newest first. Each is decided from the state of the files at that moment. */
export async function undoChanges(changes: readonly TakenChange[], run: UndoRun): Promise<UndoneChange[]> {
  const newestFirst = changes.toReversed()
  const report: UndoneChange[] = []
  for (const [index, taken] of newestFirst.entries()) {
    if (run.signal.aborted) throw run.signal.reason
    const { callId: call, change } = taken
    const isDone = change.notUndoable === undefined && run.isUndone(taken)
    const outcome: Outcome = isDone ? { action: 'already' } : await undoChange(change, { all: newestFirst, index }, run)
    if (outcome.action !== 'refused' && !isDone) run.onJudged(taken, outcome.action !== 'not undoable')
    report.push({ path: change.path, op: change.op, call, ...outcome })
  }
  return report
}

/** The position of a change among all that are undone, newest first. */
interface Neighbours {
  readonly all: readonly TakenChange[]
  readonly index: number
}

type Outcome = Pick<UndoneChange, 'action' | 'reason' | 'diff'>

async function undoChange(change: KeptChange, neighbours: Neighbours, run: UndoRun): Promise<Outcome> {
  try {
    const verdict = await judgeNow(change, neighbours, run.restorer)
    if (verdict.action === 'already') return { action: 'already' }
    if (verdict.action === 'not undoable') return { action: 'not undoable', reason: verdict.reason }
    const isForced = verdict.action === 'refused'
    const step = verdict.action === 'undo' ? verdict.step : run.force ? verdict.forced : undefined
    if (!step) return await refusal(verdict as Verdict & { action: 'refused' }, run)
    await run.restorer.apply(step, { isForced })
    return { action: DONE[step.do] }
  } catch (error) {
    if (run.signal.aborted || !ToolError.is(error)) throw error
    return { action: 'refused', reason: error.message }
  }
}

async function refusal({ reason, forced }: Verdict & { action: 'refused' }, run: UndoRun): Promise<Outcome> {
  const diff = forced && (await run.diff(forced))
  return { action: 'refused', reason, ...(diff && { diff }) }
}

/**
 * Decides on a change. An interrupted undo, or a person, may already have undone several changes, so a state that an older
 * change started from is not a conflict.
 */
async function judgeNow(change: KeptChange, { all, index }: Neighbours, restorer: Restorer): Promise<Verdict> {
  const isTouched = 'digest' in change && all.slice(0, index).some((newer) => isInside(newer.change, change))
  const sight = await see(change, restorer)
  const verdict = judgeChange(change, { ...sight, isTouched, rest: await restOf(change, sight, restorer) })
  if (verdict.action !== 'refused') return verdict
  for (const { change: earlier } of all.slice(index + 1)) {
    if (!isRelated(earlier, change)) continue
    if (isBefore(earlier, await see(earlier, restorer))) return { action: 'already' }
  }
  return verdict
}

async function see(change: KeptChange, restorer: Restorer): Promise<Sight> {
  const options = { digest: 'digest' in change }
  const now = await restorer.look(change.path, options)
  if (change.op !== 'move') return { now, isTouched: false }
  return { now, moved: await restorer.look(change.to, options), isTouched: false }
}

/** A folder that was kept on another disk is removed entry by entry, which may have been interrupted. */
async function restOf(change: KeptChange, { now }: Sight, restorer: Restorer): Promise<Rest | undefined> {
  if (change.op !== 'remove-tree' || change.tree === undefined || now.type !== 'folder') return undefined
  const { path, tree, digest } = change
  return now.digest === digest ? 'whole' : restorer.compare({ path, tree, digest })
}

/** Returns whether a change is inside a path that another change created or moved. */
function isInside(inner: KeptChange, outer: KeptChange): boolean {
  const top = outer.op === 'move' ? outer.to : outer.path
  return pathsOf(inner).some((path) => isWithin(top, path))
}

function isRelated(a: KeptChange, b: KeptChange): boolean {
  return pathsOf(a).some((path) => pathsOf(b).some((other) => isWithin(other, path) || isWithin(path, other)))
}

function pathsOf(change: KeptChange): string[] {
  return change.op === 'move' ? [change.path, change.to] : [change.path]
}
