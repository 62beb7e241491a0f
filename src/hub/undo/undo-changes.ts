import { type KeptChange, ToolError } from '../../core/index.ts'
import { isWithin } from '../../lib/index.ts'
import type { RecordedChange } from '../../records/undo/index.ts'
import { isBefore, judgeChange, type Sight, type Step, type Verdict } from './judge-change.ts'
import type { Rest, Restorer } from './restorer.ts'

/** What became of one change. */
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
  /** What taking it back by force would change, as a unified diff. */
  readonly diff?: string
}

/** A change and where it is on record. */
export type TakenChange = Pick<RecordedChange, 'run' | 'seq' | 'callId' | 'change'>

/** How changes are taken back. */
export interface UndoRun {
  readonly restorer: Restorer
  /** Also where something was changed since. */
  readonly force: boolean
  readonly signal: AbortSignal
  /** An earlier undo has taken it back. */
  readonly isUndone: (change: TakenChange) => boolean
  /**
   * Told before the next change is looked at: whoever goes on after a crash knows how far this one came. False for a
   * change that nobody can take back; a refused one is not told, since it may be taken back later.
   */
  readonly onJudged: (change: TakenChange, isUndone: boolean) => void
  /** What a forced step would change, where that can be shown. */
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

/** Takes changes back, newest first; each is judged by what is there when its turn has come. */
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

/** A change among all that are taken back, newest first. */
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
 * An undo that was stopped in the middle, or a person, may have taken back several changes already: a state that an
 * older change began with is none that somebody else made.
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

/** A folder that was kept on another disk is removed name by name; that can have ended half way. */
async function restOf(change: KeptChange, { now }: Sight, restorer: Restorer): Promise<Rest | undefined> {
  if (change.op !== 'remove-tree' || change.tree === undefined || now.type !== 'folder') return undefined
  const { path, tree, digest } = change
  return now.digest === digest ? 'whole' : restorer.compare({ path, tree, digest })
}

/** Whether a change was made in what another one had made or moved. */
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
