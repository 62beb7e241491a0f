/** The content of a regular file, by hash. */
export interface FileState {
  /** Hash of the content in lower-case hex. */
  readonly sha256: string
  /** Size of the content. */
  readonly bytes: number
  /** Permission bits. */
  readonly mode: number
}

/**
 * A change to the file system, recorded before it happens, with what is needed to undo it. Paths are real and absolute.
 * `digest` is a hash over names, types, sizes and times of a folder and all below it: equal digests, untouched tree.
 */
export type Change =
  | { readonly op: 'create'; readonly path: string; readonly after: FileState }
  | { readonly op: 'replace'; readonly path: string; readonly before: FileState; readonly after: FileState }
  | { readonly op: 'remove'; readonly path: string; readonly before: FileState }
  | { readonly op: 'make-folder'; readonly path: string }
  | { readonly op: 'remove-folder'; readonly path: string; readonly mode: number }
  | { readonly op: 'create-tree'; readonly path: string; readonly digest: string }
  | { readonly op: 'remove-tree'; readonly path: string; readonly digest: string; readonly bytes: number }
  | { readonly op: 'move'; readonly path: string; readonly to: string; readonly digest: string }

/** A change as it is recorded, with why it cannot be undone if that is so. */
export type KeptChange = Change & {
  /** Name below the run's `undo/` folder of the removed tree. */
  readonly tree?: string
  /** Why the change cannot be undone; absent when it can. */
  readonly notUndoable?: string
}

/** Where a removed tree is moved, or why it cannot be kept. `release` frees the space of one that was not moved. */
export type PlaceForTree =
  | { readonly path: string; readonly name: string; readonly release?: () => void }
  | { readonly refusal: string }

/** Keeps what the changes of a run replace. Its methods may be called concurrently. */
export interface Journal {
  /**
   * Keeps the content of a file: by a second link where that is as good as a copy, else by copying. `source` is its
   * path through a descriptor. Returns why it was not kept, or `undefined`.
   */
  keepFile(source: string, state: FileState): Promise<string | undefined>
  /** Returns a free absolute path on the run's disk to which a removed tree can be renamed, or why there is none. */
  placeForTree(bytes: number): Promise<PlaceForTree>
  /** Records a change. Resolves when the record, and what was kept for it, survives a loss of power. */
  intend(change: KeptChange): Promise<void>
}

/**
 * The files that a run has read completely, with their hashes: replacing exactly that content needs no extra approval.
 */
export interface SeenFiles {
  get(path: string): string | undefined
  set(path: string, sha256: string): void
}
