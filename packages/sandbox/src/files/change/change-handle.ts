import { type FileChange, ToolError, type WriteFiles, type WriteOptions, type Written } from '@tool-hub/core'
import { allSettled, isWithin } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FileTarget } from '../roots.ts'
import { findLink, followLinks, lastLink, refuseLink, statAt } from '../walk.ts'
import { ChangeScope, checkMayRemove, type SharedChanges } from './change-scope.ts'
import { copyPath } from './copy-path.ts'
import { takeFolderOwnerAt } from './file-owner.ts'
import { FileSwap, type SwapOptions, swapFile } from './file-swap.ts'
import { checkSize, encodeText, type FileContent } from './fill-file.ts'
import { movePath } from './move-path.ts'
import { type ChangePlace, entryOf, refuseFolderName, syncPlace, withPlace } from './place.ts'
import { FileRemoval, removePath } from './remove-path.ts'

/** The changing part of a handle. */
export function changeHandle(shared: SharedChanges, call: FilesCall): WriteFiles {
  const scope = new ChangeScope(shared, call)
  const { filesRoot } = shared

  const write = (
    path: string,
    content: () => FileContent,
    { overwrite = false, mkdirp = true, replaces, mode, maxBytes }: WriteOptions & { readonly maxBytes?: number } = {},
  ) => {
    const limit = Math.min(maxBytes ?? Number.POSITIVE_INFINITY, call.maxBytes ?? Number.POSITIVE_INFINITY)
    const canReplace = overwrite || replaces !== undefined
    return scope.change(path, [path], ([target]) =>
      writeFile(scope, target!, { content: content(), overwrite: canReplace, replaces, mkdirp, limit, mode }),
    )
  }

  return {
    writeText: (path, text, options) => write(path, () => encodeText(text), options),
    writeBytes: (path, content, options) => write(path, () => content, options),
    changeAll(changes) {
      const paths = changes.map(({ path }) => path)
      return scope.change(paths[0] ?? '.', paths, (targets) =>
        changeAll(
          scope,
          changes.map((each, index) => ({ change: each, target: targets[index]! })),
        ),
      )
    },
    makeFolder: (path, { mkdirp = true } = {}) =>
      scope.change(path, [path], ([target]) => makeFolder(scope, target!, mkdirp)),
    move: (from, to, { mkdirp = true } = {}) =>
      scope.change(from, [from, to], ([source, goal]) => movePath(scope, source!, goal!, mkdirp)),
    copy: (from, to, { mkdirp = true } = {}) =>
      filesRoot.use(from, call, async () => {
        // The source may be named over links; from here on it has its real path.
        const { path, saysFolder } = followLinks(filesRoot.roots, from, findLink)
        const real = saysFolder ? `${path}/` : path
        return scope.change(to, [real, to], ([source, goal]) => copyPath(scope, source!, goal!, mkdirp))
      }),
    remove: (path, { recursive = false } = {}) =>
      scope.change(path, [path], ([target]) => removePath(scope, target!, recursive)),
  }
}

/** Creates a folder, unless it exists. */
async function makeFolder(
  scope: ChangeScope,
  target: FileTarget,
  mkdirp: boolean,
): Promise<{ path: string; created: boolean }> {
  scope.filesRoot.pass(target, 'write', scope.call)
  if (target.names.length === 0) return { path: target.path, created: false }
  const created = await withPlace(scope, target, mkdirp, async (place) => {
    if (isFolder(scope, place)) return false
    await scope.intend({ op: 'make-folder', path: target.path })
    scope.throwIfAborted()
    fileAccess.makeFolder(entryOf(place))
    takeFolderOwnerAt(place.parent, place.name)
    await syncPlace(place)
    return true
  })
  return { path: target.path, created }
}

function isFolder({ filesRoot }: ChangeScope, { target, parent, name }: ChangePlace): boolean {
  const stats = statAt(parent, name)
  if (!stats || stats.isDirectory()) return stats !== undefined
  const link = stats.isSymbolicLink() ? lastLink(target, parent, name) : undefined
  if (link) refuseLink(filesRoot.roots, link, target)
  throw new ToolError('CONFLICT', `${quotePath(target.path)} exists already and is not a folder.`, {
    hint: 'Choose another name.',
  })
}

/** Writes a complete file or nothing. */
async function writeFile(
  scope: ChangeScope,
  target: FileTarget,
  options: SwapOptions & { readonly mkdirp: boolean },
): Promise<Written> {
  refuseFolderName(target)
  checkSize(options.content, options.limit)
  scope.filesRoot.pass(target, 'write', scope.call)
  return withPlace(scope, target, options.mkdirp, (place) => swapFile(scope, place, options))
}

/** One change with where it leads. */
interface LocatedChange {
  readonly change: FileChange
  readonly target: FileTarget
}

type Step = FileSwap | FileRemoval

/** Each one keeps up to three descriptors open until all are done. */
const MAX_CHANGES = 500

/** Makes all of the changes or none: all are prepared, backed up and on record before the first is applied. */
async function changeAll(scope: ChangeScope, changes: readonly LocatedChange[]): Promise<readonly Written[]> {
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

/** One call frame per change: its folder stays open until all changes after it are done. */
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
