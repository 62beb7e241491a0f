import { ToolError } from '@tool-hub/core'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FileTarget } from '../roots.ts'
import { statAt } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { checkCopySize } from './copy-path.ts'
import { copyTree } from './copy-tree.ts'
import { canRename, checkFree, FileDraft, giveFolderName, giveName, takeAway } from './draft.ts'
import {
  type ChangePlace,
  changedSinceRead,
  entryBelow,
  entryOf,
  isAdmitted,
  isEntryAt,
  refuseIntoItself,
  refuseRoot,
  syncPlace,
  withPlace,
} from './place.ts'
import { takeAndDelete } from './remove-path.ts'
import { deleteTree, measureTree, type TreeMeasure } from './tree.ts'

/** Moves a file, a link or a folder to a free name. */
export async function movePath(
  scope: ChangeScope,
  from: FileTarget,
  to: FileTarget,
  mkdirp: boolean,
): Promise<{ from: string; to: string }> {
  refuseRoot(from)
  refuseRoot(to)
  refuseIntoItself(from, to)
  checkEntry(scope, from, to)
  await withPlace(scope, from, false, (source) =>
    withPlace(scope, to, mkdirp, async (goal) => {
      await move(scope, source, goal)
      await Promise.all([syncPlace(source), syncPlace(goal)])
    }),
  )
  return { from: from.path, to: to.path }
}

async function move(scope: ChangeScope, source: ChangePlace, goal: ChangePlace): Promise<void> {
  const measure = await measureTree(source.parent, source.name, {
    signal: scope.signal,
    onEntry: (names) =>
      checkEntry(
        scope,
        entryBelow(scope.filesRoot, source.target, names),
        entryBelow(scope.filesRoot, goal.target, names),
      ),
  })
  const isFolder = measure.top.isDirectory()
  if (source.target.saysFolder && !isFolder)
    throw new ToolError('NOT_FOUND', `${quotePath(source.target.path)} is not a folder.`)
  checkFree(goal)
  if (isNear(scope, source, goal)) await moveNear(scope, source, goal, measure)
  else await moveFar(scope, source, goal, measure)
  const { seen } = scope.call
  const known = isFolder ? undefined : seen?.get(source.target.path)
  if (known !== undefined) seen?.set(goal.target.path, known)
}

function isNear(scope: ChangeScope, source: ChangePlace, goal: ChangePlace): boolean {
  const probe = new FileDraft(scope, goal)
  try {
    return canRename(scope, source, entryOf(probe))
  } finally {
    probe.end()
  }
}

async function moveNear(
  scope: ChangeScope,
  source: ChangePlace,
  goal: ChangePlace,
  measure: TreeMeasure,
): Promise<void> {
  const { top, digest } = measure
  await scope.intend({ op: 'move', path: source.target.path, to: goal.target.path, digest })
  scope.throwIfAborted()
  if (!top.isDirectory()) return moveFile(scope, source, goal, measure)
  giveFolderName(entryOf(source), goal)
  if (isEntryAt(goal.parent, goal.path, top)) return
  fileAccess.rename(entryOf(goal), entryOf(source))
  throw changedSinceRead(source)
}

/** The file has two names for a moment, and never none: a crash in between loses nothing. */
function moveFile(scope: ChangeScope, source: ChangePlace, goal: ChangePlace, { top }: TreeMeasure): void {
  giveName(entryOf(source), goal)
  try {
    if (!isEntryAt(goal.parent, goal.path, top)) throw changedSinceRead(source)
    // Without hard links the file has been renamed already.
    if (statAt(source.parent, source.name)) takeAway(scope, source, top).remove()
  } catch (error) {
    if (statAt(source.parent, source.name)) fileAccess.unlink(entryOf(goal))
    throw error
  }
}

/** To another file system: the copy is complete, has its name and is on record before the original is removed. */
async function moveFar(
  scope: ChangeScope,
  source: ChangePlace,
  goal: ChangePlace,
  measure: TreeMeasure,
): Promise<void> {
  checkCopySize(scope, source.target, measure.bytes)
  const draft = new FileDraft(scope, goal)
  try {
    await copyTree(
      source,
      { parent: goal.parent, name: draft.name },
      {
        signal: scope.signal,
        maxBytes: measure.bytes,
        admits: () => true,
        isFaithful: true,
      },
    )
    const { digest } = await measureTree(goal.parent, draft.name, { signal: scope.signal })
    const now = await measureTree(source.parent, source.name, { signal: scope.signal })
    if (now.digest !== measure.digest) throw changedSinceRead(source)
    await scope.intend({ op: 'move', path: source.target.path, to: goal.target.path, digest })
    scope.throwIfAborted()
    if (measure.top.isDirectory()) giveFolderName(entryOf(draft), goal)
    else giveName(entryOf(draft), goal)
    await syncPlace(goal)
  } finally {
    await deleteTree(goal.parent, draft.name)
    draft.end()
  }
  await takeAndDelete(scope, source, measure, `All of it is at ${goal.target.path} as well.`)
}

/** A move changes both places, and must not make readable what was not. */
function checkEntry({ filesRoot, call }: ChangeScope, from: FileTarget, to: FileTarget): void {
  refuseRoot(from)
  filesRoot.pass(from, 'write', call)
  filesRoot.pass(to, 'write', call)
  if (from.root.isUntrusted && !to.root.isUntrusted) call.onUntrusted?.(from.path)
  if (isReadable({ filesRoot, call }, from) || !isReadable({ filesRoot, call }, to)) return
  const message = `${quotePath(from.path)} may not be read, so it may not be moved to where it could be.`
  throw new ToolError('PATH_DENIED', message, { hint: 'Leave it where it is, or have the owner move it.' })
}

/** By default, and by policy, whether or not the tool itself reads. */
function isReadable({ filesRoot, call }: Pick<ChangeScope, 'filesRoot' | 'call'>, target: FileTarget): boolean {
  return isAdmitted(filesRoot, target, 'read') && call.mayRead?.(target.path) !== false
}
