import { closeSync } from 'node:fs'
import { type CopyResult, ToolError } from '@tool-hub/core'
import { isDraftName } from '../access/steady-changes.ts'
import { quotePath } from '../file-error.ts'
import type { FileTarget } from '../roots.ts'
import { statAt } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { copyTree } from './copy-tree.ts'
import { checkFree, FileDraft, giveFolderName } from './draft.ts'
import { swapFile } from './file-swap.ts'
import {
  type ChangePlace,
  entryBelow,
  entryOf,
  isAdmitted,
  modeOf,
  openCurrent,
  piecesOf,
  refuseFolderName,
  refuseIntoItself,
  refuseRoot,
  syncPlace,
  withPlace,
} from './place.ts'
import { type ByteName, deleteTree, measureTree, toText } from './tree.ts'

type Copied = Omit<CopyResult, 'path'>

/** Copies a file or a folder to a name that is free; links, special files and what is protected are left out. */
export async function copyPath(
  scope: ChangeScope,
  from: FileTarget,
  to: FileTarget,
  mkdirp: boolean,
): Promise<CopyResult> {
  const { filesRoot, call } = scope
  refuseRoot(to)
  refuseIntoItself(from, to)
  filesRoot.pass(from, 'read', call)
  filesRoot.pass(to, 'write', call)
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

async function copyFile(scope: ChangeScope, source: ChangePlace, goal: ChangePlace): Promise<Copied> {
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

/** The copy is built under a draft's name and renamed in one step. */
async function copyFolder(scope: ChangeScope, source: ChangePlace, goal: ChangePlace): Promise<Copied> {
  checkFree(goal)
  const draft = new FileDraft(scope, goal)
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
    // Nothing is left of it once it has its own name.
    await deleteTree(goal.parent, draft.name)
    draft.end()
  }
}

/** What is closed by default is left out; what a rule forbids stops the copy. */
function isCopied(
  { filesRoot, call }: ChangeScope,
  from: FileTarget,
  to: FileTarget,
  names: readonly ByteName[],
): boolean {
  if (names.length === 0) return true
  if (isDraftName(toText(names.at(-1)!))) return false
  const [source, goal] = [entryBelow(filesRoot, from, names), entryBelow(filesRoot, to, names)]
  if (!isAdmitted(filesRoot, source, 'read') || !isAdmitted(filesRoot, goal, 'write')) return false
  filesRoot.pass(source, 'read', call)
  filesRoot.pass(goal, 'write', call)
  return true
}

/** A sparse file can be larger than any disk; no tool copies 10 GiB on purpose. */
const MAX_BYTES = 10_737_418_240

/** The most bytes that one copy writes, also the copy for a move to another file system. */
export function copyLimit({ call }: ChangeScope): number {
  return Math.min(call.maxBytes ?? MAX_BYTES, MAX_BYTES)
}

/** Refuses, before anything is written, what is known to be over the limit. */
export function checkCopySize(scope: ChangeScope, { path }: FileTarget, size: number): void {
  const limit = copyLimit(scope)
  if (size <= limit) return
  throw new ToolError('FILE_TOO_LARGE', `${quotePath(path)} has ${size} bytes to copy, the limit is ${limit}.`, {
    hint: 'Copy its parts, or leave it where it is.',
    details: { size, limit },
  })
}
