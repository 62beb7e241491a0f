import { join } from 'node:path'
import { messageOf, type ToolError } from '@tool-hub/core'

/** Where the record of a run goes besides the disk of this machine, so that others can continue it. */
export interface RecordShipment {
  /** Id of the process that has the run. The record names it. */
  readonly process: string
  /** Counts the processes that have had the run. */
  readonly epoch: number
  /** Begins to ship the file of the record. */
  open(file: ShippedFile): ShippedRecord
  /** Where artifacts and undo data go. Default: they stay on this machine. */
  readonly content?: SharedFiles
}

/** The file of a record, as it is read to be shipped: what waits is in the file, and not in memory. */
export interface ShippedFile {
  /** Bytes in the file. */
  readonly bytes: number
  /** Returns at most `length` bytes from `position` on. */
  read(position: number, length: number): Buffer
}

/** A record on its way. */
export interface ShippedRecord {
  /** Why nothing of it is shipped any more. */
  readonly problem: ToolError | undefined
  /** Called when the record has grown and nobody waits until it has arrived. */
  note(): void
  /**
   * Resolves when all lines that are in the file now have arrived. Rejects if another process has the run, and if the lines
   * are refused; if `isPatient`, only if they still are after 30 s.
   */
  shared(options?: { readonly isPatient?: boolean }): Promise<void>
  /**
   * Nothing is appended any more; what is left is shipped as soon as possible. Resolves then, or when another process has
   * the run. Returns `undefined` if nothing is left.
   */
  close(): Promise<void> | undefined
}

/** Files by the hash of their content, stored once for all machines. */
export interface SharedFiles {
  /** Stores a file of this machine unless it is there, and notes that the run uses it. */
  put(run: string, hash: string, path: string): Promise<void>
  /** Finds content that a run uses. */
  find(run: string, hash: string): Promise<SharedFile | undefined>
  /** Copies content that a run uses to a file on this machine, complete and checked. Returns false if there is none. */
  fetch(run: string, hash: string, path: string): Promise<boolean>
}

/** Content that another machine has stored. */
export interface SharedFile {
  readonly bytes: number
  /** Yields a range. The caller compares the hash of the whole. */
  pieces(span: { readonly start: number; readonly end: number }): AsyncGenerator<Uint8Array>
}

/** Whose content is shared, and whether it is before it is named. */
export interface ContentSharing {
  readonly shared?: { readonly content: SharedFiles; readonly run: string }
  readonly isWaitedFor?: boolean
}

/** The files that a run keeps for undo, shared with other machines by their hash. */
export class KeptContent {
  readonly #folder: string
  readonly #sharing: ContentSharing

  constructor(folder: string, sharing: ContentSharing) {
    this.#folder = folder
    this.#sharing = sharing
  }

  /** Shares a file before the change that it belongs to. */
  async share(sha256: string): Promise<void> {
    const { shared, isWaitedFor = false } = this.#sharing
    if (isWaitedFor) await shared?.content.put(shared.run, sha256, join(this.#folder, sha256))
  }

  /** Copies a file from another machine to this one. Returns false if there is none. */
  async fetch(sha256: string): Promise<boolean> {
    const { shared } = this.#sharing
    return (await shared?.content.fetch(shared.run, sha256, join(this.#folder, sha256))) ?? false
  }
}

/** The end of a call that was executed is on this machine only. */
export class UnsharedEnd extends Error {
  /** Why it is not shared. */
  override readonly cause: unknown

  constructor(cause: unknown) {
    super(messageOf(cause))
    this.cause = cause
  }

  static reject(this: void, cause: unknown): never {
    throw new UnsharedEnd(cause)
  }
}
