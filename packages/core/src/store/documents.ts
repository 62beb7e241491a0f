import type { Awaitable } from '../lib/index.ts'

/** Small documents by name. Several processes change them: a write names the revision that it replaces. */
export interface DocumentStore {
  /** The document of this name; `undefined` if there is none. Its body is left out if its revision is `known`. */
  read(name: string, known?: number): Awaitable<StoredDocument | undefined>
  /**
   * Replaces the document if it still has this revision; 0 adds a document that is not there. Returns false, and changes
   * nothing, if another process was faster: read it again. Rejects with `FILE_TOO_LARGE` over 4 million characters.
   */
  write(name: string, body: string, revision: number): Awaitable<boolean>
}

/** A document as it was read. */
export interface StoredDocument {
  /** Counts its writes, from 1. */
  readonly revision: number
  /** Its content; absent if the reader knows this revision. */
  readonly body?: string
}
