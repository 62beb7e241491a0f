import type { Change, FileState, PlaceForTree } from '../../../change.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import { quotePath } from '../quote-path.ts'
import type { DraftsLedger } from './drafts-ledger.ts'
import type { PathQueue } from './path-queue.ts'

/** What all changes of one guard have in common. */
export interface SharedChanges {
  readonly door: FilesDoor
  readonly queue: PathQueue
  /** Folders on the way are made one at a time, so that each has one maker. */
  readonly makingFolders: PathQueue
  readonly ledger: DraftsLedger
  /** What a crash left is gone when this resolves. */
  readonly swept: Promise<void> | undefined
}

/** The changes of one call: who asks, and what is kept of what they replace. */
export class ChangeScope {
  readonly shared: SharedChanges
  readonly door: FilesDoor
  readonly call: FilesCall
  #hasSaidNoJournal = false

  constructor(shared: SharedChanges, call: FilesCall) {
    this.shared = shared
    this.door = shared.door
    this.call = call
  }

  get signal(): AbortSignal {
    return this.call.signal()
  }

  throwIfAborted(): void {
    throwIfAborted(this.call.signal())
  }

  /** Keeps the content that a change replaces; gives back why it was not kept. */
  async keepFile(source: string, state: FileState): Promise<string | undefined> {
    return this.call.journal?.keepFile(source, state)
  }

  async placeForTree(bytes: number): Promise<PlaceForTree> {
    return (await this.call.journal?.placeForTree(bytes)) ?? { refusal: 'nothing is kept of changes here' }
  }

  /** Puts a change on record before it happens, and says when there is no way back. */
  async intend(change: Change, { tree, notUndoable }: { tree?: string; notUndoable?: string } = {}): Promise<void> {
    const { journal, notice } = this.call
    if (!journal) {
      if (!this.#hasSaidNoJournal) notice?.('This change cannot be undone: nothing is kept of changes here.')
      this.#hasSaidNoJournal = true
      return
    }
    if (notUndoable !== undefined) notice?.(`The change of ${quotePath(change.path)} cannot be undone: ${notUndoable}.`)
    await journal.intend({
      ...change,
      ...(tree !== undefined && { tree }),
      ...(notUndoable !== undefined && { notUndoable }),
    })
  }
}
