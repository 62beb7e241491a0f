import { ToolError } from '../../../errors.ts'
import { fileAccess } from '../access/choose-access.ts'
import { statAt } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { canRename } from './can-rename.ts'
import type { ChangeScope } from './change-scope.ts'
import { checkCopySize } from './copy-limit.ts'
import { copyTree } from './copy-tree.ts'
import { changed } from './current-file.ts'
import { deleteTree } from './delete-tree.ts'
import { Draft } from './draft.ts'
import { entryBelow, isAdmitted } from './entry-below.ts'
import { checkFree, giveFolderName, giveName } from './give-name.ts'
import { entryOf, isEntryAt, type Place, syncPlace, withPlace } from './place.ts'
import { refuseIntoItself, refuseRoot } from './refuse-target.ts'
import { takeAndDelete } from './remove-full-folder.ts'
import { takeAway } from './take-away.ts'
import { measureTree, type TreeMeasure } from './tree-digest.ts'

/** Moves a file, a link or a folder to a name that is free. */
export async function movePath(
  scope: ChangeScope,
  from: Target,
  to: Target,
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

async function move(scope: ChangeScope, source: Place, goal: Place): Promise<void> {
  const measure = await measureTree(source.parent, source.name, {
    signal: scope.signal,
    onEntry: (names) =>
      checkEntry(scope, entryBelow(scope.door, source.target, names), entryBelow(scope.door, goal.target, names)),
  })
  const isFolder = measure.top.isDirectory()
  if (source.target.saysFolder && !isFolder)
    throw new ToolError('NOT_FOUND', `${quotePath(source.target.path)} is no folder.`)
  checkFree(goal)
  if (isNear(scope, source, goal)) await moveNear(scope, source, goal, measure)
  else await moveFar(scope, source, goal, measure)
  const { seen } = scope.call
  const known = isFolder ? undefined : seen?.get(source.target.path)
  if (known !== undefined) seen?.set(goal.target.path, known)
}

function isNear(scope: ChangeScope, source: Place, goal: Place): boolean {
  const probe = new Draft(scope, goal)
  try {
    return canRename(scope, source, entryOf(probe))
  } finally {
    probe.end()
  }
}

async function moveNear(scope: ChangeScope, source: Place, goal: Place, measure: TreeMeasure): Promise<void> {
  const { top, digest } = measure
  await scope.intend({ op: 'move', path: source.target.path, to: goal.target.path, digest })
  scope.throwIfAborted()
  if (!top.isDirectory()) return moveFile(scope, source, goal, measure)
  giveFolderName(entryOf(source), goal)
  if (isEntryAt(goal.parent, goal.path, top)) return
  fileAccess.rename(entryOf(goal), entryOf(source))
  throw changed(source)
}

/** Two names for a moment, never none: a crash in between loses nothing. */
function moveFile(scope: ChangeScope, source: Place, goal: Place, { top }: TreeMeasure): void {
  giveName(entryOf(source), goal)
  try {
    if (!isEntryAt(goal.parent, goal.path, top)) throw changed(source)
    // Without second links the file has been renamed already.
    if (statAt(source.parent, source.name)) takeAway(scope, source, top).remove()
  } catch (error) {
    if (statAt(source.parent, source.name)) fileAccess.unlink(entryOf(goal))
    throw error
  }
}

/** To another file system: the copy is whole, has its name and is on record before the original goes. */
async function moveFar(scope: ChangeScope, source: Place, goal: Place, measure: TreeMeasure): Promise<void> {
  checkCopySize(scope, source.target, measure.bytes)
  const draft = new Draft(scope, goal)
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
    if (now.digest !== measure.digest) throw changed(source)
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

/** A move changes both ends, and must not make readable what was not. */
function checkEntry({ door, call }: ChangeScope, from: Target, to: Target): void {
  refuseRoot(from)
  door.pass(from, 'write', call)
  door.pass(to, 'write', call)
  if (from.root.isUntrusted && !to.root.isUntrusted) call.onUntrusted?.()
  if (isReadable({ door, call }, from) || !isReadable({ door, call }, to)) return
  const message = `${quotePath(from.path)} may not be read, so it may not be moved to where it could be.`
  throw new ToolError('PATH_DENIED', message, { hint: 'Leave it where it is, or have the owner move it.' })
}

/** By default, and by policy, whether or not the tool itself reads. */
function isReadable({ door, call }: Pick<ChangeScope, 'door' | 'call'>, target: Target): boolean {
  return isAdmitted(door, target, 'read') && call.mayRead?.(target.path) !== false
}
