import type { FileChange, WriteFiles, WriteOptions } from '../../../contracts/handles.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { findLink, followLinks } from '../walk.ts'
import { changeAll } from './change-all.ts'
import { ChangeScope } from './change-scope.ts'
import { changesOf } from './changes.ts'
import { copyPath } from './copy-path.ts'
import { type Content, encodeText } from './fill-file.ts'
import { makeFolder } from './make-folder.ts'
import { movePath } from './move-path.ts'
import { removePath } from './remove-path.ts'
import { writeFile } from './write-file.ts'

interface MakeFolders {
  /** Make the folders above; true unless said. */
  readonly mkdirp?: boolean
}

/** The part of a call's handle that changes. */
export function changeHandle(door: FilesDoor, call: FilesCall): WriteFiles {
  return new ChangeHandle(new ChangeScope(changesOf(door), call))
}

class ChangeHandle implements WriteFiles {
  readonly #scope: ChangeScope

  constructor(scope: ChangeScope) {
    this.#scope = scope
  }

  writeText(path: string, text: string, options?: WriteOptions) {
    return this.#write(path, () => encodeText(text), options)
  }

  writeBytes(path: string, content: Content, options?: WriteOptions & { readonly maxBytes?: number }) {
    return this.#write(path, () => content, options)
  }

  changeAll(changes: readonly FileChange[]) {
    return this.#change(
      changes[0]?.path ?? '.',
      changes.map(({ path }) => path),
      (targets) =>
        changeAll(
          this.#scope,
          changes.map((change, index) => ({ change, target: targets[index]! })),
        ),
    )
  }

  makeFolder(path: string, { mkdirp = true }: MakeFolders = {}) {
    return this.#change(path, [path], ([target]) => makeFolder(this.#scope, target!, mkdirp))
  }

  move(from: string, to: string, { mkdirp = true }: MakeFolders = {}) {
    return this.#change(from, [from, to], ([source, goal]) => movePath(this.#scope, source!, goal!, mkdirp))
  }

  copy(from: string, to: string, { mkdirp = true }: MakeFolders = {}) {
    const { door, call } = this.#scope
    return door.use(from, call, async () => {
      // What is read may be named over links; from here on it has its real path.
      const { path, saysFolder } = followLinks(door.roots, from, findLink)
      const real = saysFolder ? `${path}/` : path
      return this.#change(to, [real, to], ([source, goal]) => copyPath(this.#scope, source!, goal!, mkdirp))
    })
  }

  remove(path: string, { recursive = false }: { readonly recursive?: boolean } = {}) {
    return this.#change(path, [path], ([target]) => removePath(this.#scope, target!, recursive))
  }

  #write(
    path: string,
    content: () => Content,
    { overwrite = false, mkdirp = true, replaces, mode, maxBytes }: WriteOptions & { readonly maxBytes?: number } = {},
  ) {
    const limit = Math.min(maxBytes ?? Number.POSITIVE_INFINITY, this.#scope.call.maxBytes ?? Number.POSITIVE_INFINITY)
    return this.#change(path, [path], ([target]) =>
      writeFile(this.#scope, target!, {
        content: content(),
        overwrite: overwrite || replaces !== undefined,
        replaces,
        mkdirp,
        limit,
        mode,
      }),
    )
  }

  /** Runs a change when all earlier ones of its paths have ended; `named` is the path that errors are about. */
  #change<T>(named: string, paths: readonly string[], work: (targets: readonly Target[]) => Promise<T>): Promise<T> {
    const { door, call, shared } = this.#scope
    return door.use(named, call, async () => {
      if (shared.swept) await shared.swept
      const locate = () => paths.map((path) => door.roots.locate(path))
      // Located again when its turn comes: the guard may be closed by then, and its descriptors another's.
      return shared.queue(
        locate().map(({ path }) => path),
        async () => {
          this.#scope.throwIfAborted()
          return work(locate())
        },
        call.signal,
      )
    })
  }
}

// One for all calls: a tool must not be able to change what others get.
Object.freeze(ChangeHandle.prototype)
