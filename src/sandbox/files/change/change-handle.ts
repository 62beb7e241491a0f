import { ToolError } from '../../../core/errors.ts'
import type { WriteFiles, WriteOptions, Written } from '../../../core/handles.ts'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FilesCall, FilesRoot } from '../files-root.ts'
import type { FileTarget } from '../open-roots.ts'
import { findLink, followLinks, lastLink, refuseLink, statAt } from '../walk.ts'
import { changeAll } from './change-all.ts'
import { ChangeScope } from './change-scope.ts'
import { copyPath } from './copy-path.ts'
import { type SwapOptions, swapFile } from './file-swap.ts'
import { checkSize, encodeText, type FileContent } from './fill-file.ts'
import { takeFolderOwnerAt } from './keep-owner.ts'
import { movePath } from './move-path.ts'
import { type ChangePlace, entryOf, refuseFolderName, syncPlace, withPlace } from './place.ts'
import { removePath } from './remove-path.ts'

/** The changing part of a handle. */
export function changeHandle(filesRoot: FilesRoot, call: FilesCall): WriteFiles {
  const scope = new ChangeScope(filesRoot, call)
  const { shared } = scope

  /** Runs a change after all earlier ones of its paths have ended; errors are about the path `named`. */
  const change = <T>(
    named: string,
    paths: readonly string[],
    work: (targets: readonly FileTarget[]) => Promise<T>,
  ): Promise<T> =>
    filesRoot.use(named, call, async () => {
      if (shared.swept) await shared.swept
      const locate = () => paths.map((path) => filesRoot.roots.locate(path))
      // Located again when its turn comes: the guard may be closed by then, and its descriptors reused.
      const run = async () => {
        scope.throwIfAborted()
        return work(locate())
      }
      return shared.queue(
        locate().map(({ path }) => path),
        run,
        call.signal,
      )
    })

  const write = (
    path: string,
    content: () => FileContent,
    { overwrite = false, mkdirp = true, replaces, mode, maxBytes }: WriteOptions & { readonly maxBytes?: number } = {},
  ) => {
    const limit = Math.min(maxBytes ?? Number.POSITIVE_INFINITY, call.maxBytes ?? Number.POSITIVE_INFINITY)
    const canReplace = overwrite || replaces !== undefined
    return change(path, [path], ([target]) =>
      writeFile(scope, target!, { content: content(), overwrite: canReplace, replaces, mkdirp, limit, mode }),
    )
  }

  return {
    writeText: (path, text, options) => write(path, () => encodeText(text), options),
    writeBytes: (path, content, options) => write(path, () => content, options),
    changeAll(changes) {
      const paths = changes.map(({ path }) => path)
      return change(paths[0] ?? '.', paths, (targets) =>
        changeAll(
          scope,
          changes.map((each, index) => ({ change: each, target: targets[index]! })),
        ),
      )
    },
    makeFolder: (path, { mkdirp = true } = {}) =>
      change(path, [path], ([target]) => makeFolder(scope, target!, mkdirp)),
    move: (from, to, { mkdirp = true } = {}) =>
      change(from, [from, to], ([source, goal]) => movePath(scope, source!, goal!, mkdirp)),
    copy: (from, to, { mkdirp = true } = {}) =>
      filesRoot.use(from, call, async () => {
        // The source may be named over links; from here on it has its real path.
        const { path, saysFolder } = followLinks(filesRoot.roots, from, findLink)
        const real = saysFolder ? `${path}/` : path
        return change(to, [real, to], ([source, goal]) => copyPath(scope, source!, goal!, mkdirp))
      }),
    remove: (path, { recursive = false } = {}) =>
      change(path, [path], ([target]) => removePath(scope, target!, recursive)),
  }
}

/** Makes a folder, unless it is there. */
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

/** Writes a whole file or nothing. */
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
