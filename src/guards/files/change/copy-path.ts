import { closeSync } from 'node:fs'
import type { CopyResult } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import { statAt } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import type { ChangeScope } from './change-scope.ts'
import { checkCopySize, copyLimit } from './copy-limit.ts'
import { copyTree } from './copy-tree.ts'
import { modeOf, openCurrent } from './current-file.ts'
import { deleteTree } from './delete-tree.ts'
import { Draft } from './draft.ts'
import { isDraftName } from './draft-name.ts'
import { entryBelow, isAdmitted } from './entry-below.ts'
import { checkFree, giveFolderName } from './give-name.ts'
import { piecesOf } from './pieces-of.ts'
import { entryOf, type Place, syncPlace, withPlace } from './place.ts'
import { refuseFolderName, refuseIntoItself, refuseRoot } from './refuse-target.ts'
import { measureTree } from './tree-digest.ts'
import { type ByteName, toText } from './tree-entries.ts'
import { swapFile } from './write-file.ts'

type Copied = Omit<CopyResult, 'path'>

/** Copies a file or a folder to a name that is free; links, special files and what is protected are left out. */
export async function copyPath(scope: ChangeScope, from: Target, to: Target, mkdirp: boolean): Promise<CopyResult> {
  const { door, call } = scope
  refuseRoot(to)
  refuseIntoItself(from, to)
  door.pass(from, 'read', call)
  door.pass(to, 'write', call)
  const copied = await withPlace(scope, from, false, (source) => {
    const stats = statAt(source.parent, source.name)
    if (!stats || (from.saysFolder && !stats.isDirectory())) {
      throw new ToolError('NOT_FOUND', `${quotePath(from.path)} does not exist.`)
    }
    const copy = stats.isDirectory() ? copyFolder : copyFile
    return withPlace(scope, to, mkdirp, (goal) => copy(scope, source, goal))
  })
  return { path: to.path, ...copied }
}

async function copyFile(scope: ChangeScope, source: Place, goal: Place): Promise<Copied> {
  refuseFolderName(goal.target)
  checkFree(goal)
  const file = openCurrent(scope, source)
  if (!file) throw new ToolError('NOT_FOUND', `${quotePath(source.target.path)} does not exist.`)
  try {
    const size = Number(file.stats.size)
    checkCopySize(scope, source.target, size)
    const content = piecesOf(file.descriptor, size, scope.signal)
    const options = { content, overwrite: false, limit: copyLimit(scope), mode: modeOf(file.stats) }
    const { bytes } = await swapFile(scope, goal, options)
    return { files: 1, bytes, skipped: 0 }
  } finally {
    closeSync(file.descriptor)
  }
}

/** Built under a draft's name, then given its own in one step. */
async function copyFolder(scope: ChangeScope, source: Place, goal: Place): Promise<Copied> {
  checkFree(goal)
  const draft = new Draft(scope, goal)
  try {
    const { signal } = scope
    const admits = (names: readonly ByteName[]) => isCopied(scope, source.target, goal.target, names)
    const named = { parent: goal.parent, name: draft.name }
    const count = await copyTree(source, named, { signal, maxBytes: copyLimit(scope), admits, isFaithful: false })
    const { digest } = await measureTree(goal.parent, draft.name, { signal })
    await scope.intend({ op: 'create-tree', path: goal.target.path, digest })
    scope.throwIfAborted()
    giveFolderName(entryOf(draft), goal)
    await syncPlace(goal)
    return count
  } finally {
    // Nothing is left of it when it got its name.
    await deleteTree(goal.parent, draft.name)
    draft.end()
  }
}

/** What is closed by default is left out; what a rule forbids stops the copy. */
function isCopied({ door, call }: ChangeScope, from: Target, to: Target, names: readonly ByteName[]): boolean {
  if (names.length === 0) return true
  if (isDraftName(toText(names.at(-1)!))) return false
  const [source, goal] = [entryBelow(door, from, names), entryBelow(door, to, names)]
  if (!isAdmitted(door, source, 'read') || !isAdmitted(door, goal, 'write')) return false
  door.pass(source, 'read', call)
  door.pass(goal, 'write', call)
  return true
}
