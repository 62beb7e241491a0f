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

/** A change as it is kept; one without a pre-image says why it cannot be undone. */
export type KeptChange = Change & {
  /** Name below the run's `undo/` folder of the removed tree. */
  readonly tree?: string
  /** Why the change cannot be undone; absent when it can. */
  readonly notUndoable?: string
}

/** Where a removed tree goes, or why nowhere. `release` returns the room for one that did not go there. */
export type PlaceForTree =
  | { readonly path: string; readonly name: string; readonly release?: () => void }
  | { readonly refusal: string }

/** Where a run keeps what its changes replace. Everything here may be called for several changes concurrently. */
export interface Journal {
  /**
   * Keeps the content of a file: by a second link where that is as good as a copy, else by copying. `source` leads to it
   * over a descriptor. Returns why it was not kept, nothing when it was.
   */
  keepFile(source: string, state: FileState): Promise<string | undefined>
  /** A free absolute path on the run's disk that a removed tree can be renamed to, or why there is none. */
  placeForTree(bytes: number): Promise<PlaceForTree>
  /** Puts a change on record; resolves when the record, and what was kept for it, survives a loss of power. */
  intend(change: KeptChange): Promise<void>
}

/** What a run has read whole: replacing exactly that needs no further leave, because nobody is surprised by it. */
export interface SeenFiles {
  get(path: string): string | undefined
  set(path: string, sha256: string): void
}
