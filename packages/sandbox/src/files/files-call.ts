import type { Change, Journal, SeenFiles } from '@tool-hub/core'

/** Reading leaves a file as it was; writing creates, replaces, moves or removes one. */
export type Access = 'read' | 'write'

/** The uses that policy decides on; `overwrite` replaces or removes content. */
export type PathUse = Access | 'overwrite'

/** What one call may do with files, and the services of the pipeline that it uses meanwhile. */
export interface FilesCall {
  /** Creates the signal on first use, which costs as much as a small read. Short work checks `isStopped` instead. */
  readonly signal: () => AbortSignal
  readonly isStopped?: () => boolean
  /** The call belongs to the owner of the hub, not to a principal: its errors may mention the current folder. */
  readonly isOwner?: boolean
  readonly canRead: boolean
  readonly canWrite: boolean
  /** The call is an undo by the owner. */
  readonly canRestore?: boolean
  /** The tool declares `danger:destructive`. */
  readonly canOverwrite: boolean
  /** The size limit of the deciding rule, for reading and writing. */
  readonly maxBytes?: number
  /** The largest file that the deciding rule lets it read, whole or in parts. */
  readonly maxFileBytes?: number
  /** Throws if policy did not decide on this path; called at the moment of use. */
  readonly permits?: (realPath: string, use: PathUse) => void
  /** A quick test of files in a folder: true if policy permits reading one. Ask `permits` about any other. */
  readonly permitsIn?: (folder: string) => (name: string) => boolean
  /** Whether policy lets any tool read this file without asking. */
  readonly mayRead?: (realPath: string) => boolean
  /** The files that this run has read completely. */
  readonly seen?: SeenFiles
  /** Keeps the content that changes replace. Without one nothing can be undone. */
  readonly journal?: Journal
  /** Sends the caller a notice in addition to the result. */
  readonly notice?: (text: string) => void
  /** Whether a file, by its real path, is known to come from outside. */
  readonly isUntrusted?: (realPath: string) => boolean
  /** Whether one of these files of a folder is. */
  readonly hasUntrusted?: (folder: string, names: readonly string[]) => boolean
  /** Called with the real path when content from outside is read. */
  readonly onUntrusted?: (realPath: string) => void
  /** Called with each change before it happens, whether or not anything is kept of it; resolves when its labels are kept. */
  readonly onChange?: (change: Change) => Promise<void> | undefined
}
