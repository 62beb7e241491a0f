import { ToolError } from '../../../core/errors.ts'
import type { FileChange, Written } from '../../../core/handles.ts'
import { allSettled } from '../../../lib/all-settled.ts'
import { isWithin } from '../../../lib/is-within.ts'
import { quotePath } from '../file-error.ts'
import type { FileTarget } from '../open-roots.ts'
import { type ChangeScope, checkMayRemove } from './change-scope.ts'
import { FileSwap } from './file-swap.ts'
import { checkSize, encodeText } from './fill-file.ts'
import { refuseFolderName, syncPlace, withPlace } from './place.ts'
import { FileRemoval } from './remove-path.ts'

/** One change with where it leads. */
export interface LocatedChange {
  readonly change: FileChange
  readonly target: FileTarget
}

type Step = FileSwap | FileRemoval

/** Each one holds up to three descriptors until all are done. */
const MAX_CHANGES = 500

/** Makes all of the changes or none: all are prepared, kept and on record before the first is applied. */
export async function changeAll(scope: ChangeScope, changes: readonly LocatedChange[]): Promise<readonly Written[]> {
  checkChanges(scope, changes)
  return prepareFrom(scope, changes, [])
}

function checkChanges(scope: ChangeScope, changes: readonly LocatedChange[]): void {
  if (changes.length > MAX_CHANGES) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${changes.length} changes in one call, the limit is ${MAX_CHANGES}.`)
  }
  // Names compared one by one: `a/b` comes right after `a`, before `a-b`.
  const sorted = changes
    .map(({ target }) => target.path.replaceAll('/', '\0'))
    .sort()
    .map((path) => path.replaceAll('\0', '/'))
  const twice = sorted.find((path, index) => index > 0 && isWithin(sorted[index - 1]!, path))
  if (twice !== undefined) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `${quotePath(twice)}, or what is above it, is changed twice in one call.`,
    )
  }
  for (const { change, target } of changes) {
    if (change.type === 'remove' && !isMoved(scope, { change, target }, changes)) checkMayRemove(scope, target)
    else scope.filesRoot.pass(target, 'write', scope.call)
    refuseFolderName(target)
  }
}

/** A move may edit the content, so contents cannot be compared: as for replacing, the run must have read the file. */
function isMoved(
  { filesRoot, call }: ChangeScope,
  { change, target }: LocatedChange,
  changes: readonly LocatedChange[],
): boolean {
  if (change.type !== 'remove' || change.movedTo === undefined) return false
  if (call.seen?.get(target.path) !== change.replaces) return false
  const { path } = filesRoot.roots.locate(change.movedTo)
  return changes.some((other) => other.change.type === 'create' && other.target.path === path)
}

/** One frame a change: folders are open, and descriptors closed again, for all that come after. */
async function prepareFrom(
  scope: ChangeScope,
  changes: readonly LocatedChange[],
  steps: readonly Step[],
): Promise<readonly Written[]> {
  const next = changes[steps.length]
  if (!next) return applyAll(scope, steps)
  return withPlace(scope, next.target, next.change.type === 'create', async (place) => {
    scope.throwIfAborted()
    const step = await prepare(scope, place, next.change)
    const written = await prepareFrom(scope, changes, [...steps, step]).finally(() => step.close())
    await syncPlace(place)
    return written
  })
}

function prepare(scope: ChangeScope, place: Step['place'], change: FileChange): Promise<Step> {
  if (change.type === 'remove') return FileRemoval.prepare(scope, place, change.replaces)
  const content = typeof change.content === 'string' ? encodeText(change.content) : change.content
  const limit = scope.call.maxBytes ?? Number.POSITIVE_INFINITY
  checkSize(content, limit)
  if (change.type === 'create') {
    return FileSwap.prepare(scope, place, { content, limit, overwrite: false, mode: change.mode })
  }
  return FileSwap.prepare(scope, place, { content, limit, overwrite: true, replaces: change.replaces })
}

async function applyAll(scope: ChangeScope, steps: readonly Step[]): Promise<readonly Written[]> {
  await allSettled(steps.map((step) => step.keep()))
  await allSettled(steps.map((step) => step.secure()))
  scope.throwIfAborted()
  const done: Step[] = []
  try {
    for (const step of steps) {
      step.apply()
      done.push(step)
    }
  } catch (error) {
    takeBack(done, error)
    throw error
  }
  return steps.map((step) => step.written)
}

/** Throws if a change could not be reverted because another program put something in its place. */
function takeBack(done: readonly Step[], cause: unknown): void {
  const stuck: string[] = []
  for (const step of done.toReversed()) {
    try {
      step.takeBack()
    } catch {
      stuck.push(step.place.target.path)
    }
  }
  if (stuck.length === 0) return
  const named = stuck.map(quotePath).join(', ')
  throw new ToolError('CONFLICT', `The changes failed half way, and ${named} could not be taken back.`, {
    hint: 'Look at the named files; tool-hub undo knows what they held.',
    cause,
  })
}
