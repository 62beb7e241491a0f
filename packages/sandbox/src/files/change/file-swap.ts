import { type BigIntStats, closeSync, constants, fstatSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { type FileState, ToolError, type Written } from '@tool-hub/core'
import { allSettled } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import { type ChangeScope, checkMayReplace, checkReplaces } from './change-scope.ts'
import { backUpFile, existsAlready, FileDraft, giveName } from './draft.ts'
import { keepOwner, takeFolderOwner } from './file-owner.ts'
import { type FileContent, fillFile } from './fill-file.ts'
import {
  type ChangePlace,
  type CurrentFile,
  changedSinceRead,
  checkUnchanged,
  entryOf,
  hashCurrent,
  isEntryAt,
  keepCurrent,
  modeOf,
  openCurrent,
  syncPlace,
} from './place.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** What is written, and what may exist already. */
export interface SwapOptions {
  readonly content: FileContent
  /** An existing file is replaced. */
  readonly overwrite: boolean
  /** The hash that it must have. */
  readonly replaces?: string
  readonly limit: number
  /** Permission bits. Default: those of the replaced file, or those of new files. */
  readonly mode?: number
}

/**
 * Replaces the content of a file: a draft next to it is filled, put on record, and renamed in one step. Readers see the
 * old content or the new one, also after a crash.
 */
export class FileSwap {
  readonly place: ChangePlace
  readonly #scope: ChangeScope
  readonly #draft: FileDraft
  readonly #current: CurrentFile | undefined
  #file: FileHandle | undefined
  #syncing: Promise<void> | undefined
  #before: FileState | undefined
  #after: FileState | undefined
  #backup: FileDraft | undefined
  /** The file of the draft, whatever its name. */
  #made: BigIntStats | undefined

  /** Fills the draft and inspects what will be replaced; the creator of the swap closes it. */
  static async prepare(scope: ChangeScope, place: ChangePlace, options: SwapOptions): Promise<FileSwap> {
    const current = openCurrent(scope, place)
    try {
      checkPresence(scope, place, current !== undefined, options)
      const swap = new FileSwap(scope, place, current)
      await swap.#prepare(options)
      return swap
    } catch (error) {
      if (current) closeSync(current.descriptor)
      throw error
    }
  }

  private constructor(scope: ChangeScope, place: ChangePlace, current: CurrentFile | undefined) {
    this.#scope = scope
    this.place = place
    this.#current = current
    this.#draft = new FileDraft(scope, place)
  }

  get written(): Written {
    return { bytes: this.#after!.bytes, sha256: this.#after!.sha256 }
  }

  async #prepare(options: SwapOptions): Promise<void> {
    try {
      if (options.content instanceof Uint8Array) {
        // The new content is written while the old one is hashed.
        await allSettled([this.#fill(options), this.#lookAtCurrent(options.replaces)])
        return
      }
      // Refuse before a download that could not be saved.
      await this.#lookAtCurrent(options.replaces)
      await this.#fill(options)
    } catch (error) {
      await this.#abandon()
      throw error
    }
  }

  async #lookAtCurrent(replaces: string | undefined): Promise<void> {
    const current = this.#current
    if (!current) return
    const isNeeded = replaces !== undefined || !this.#scope.call.canOverwrite
    this.#before = await hashCurrent(this.#scope, current, isNeeded)
    if (replaces !== undefined && this.#before?.sha256 !== replaces) throw changedSinceRead(this.place)
    checkReplaces(this.#scope, this.place.target, this.#before)
  }

  async #fill({ content, limit, mode: wanted }: SwapOptions): Promise<void> {
    const mode = wanted === undefined ? this.#current && modeOf(this.#current.stats) : wanted & 0o777
    const { parent } = this.place
    const file = await fileAccess.openHandle(parent, this.#draft.path, CREATE, mode === undefined ? 0o666 : 0o600)
    this.#file = file
    const written = await fillFile(file, content, limit, this.#scope.signal)
    if (this.#current) keepOwner(file.fd, this.#current.stats)
    else takeFolderOwner(file.fd, parent)
    if (mode !== undefined) await file.chmod(mode)
    this.#made = fstatSync(file.fd, { bigint: true })
    this.#after = { ...written, mode: modeOf(this.#made) }
    // It continues while the rest is prepared and kept; `#settle` reports how it ended.
    this.#syncing = file.sync()
    this.#syncing.catch(() => {})
  }

  /** Makes the draft and the backup durable; after this the swap can be applied. */
  async keep(): Promise<void> {
    await allSettled([this.#settle(), this.#record()])
  }

  /** Waits until the draft is on disk and closes it. */
  async #settle(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await this.#syncing?.finally(() => file?.close())
  }

  async #record(): Promise<void> {
    const after = this.#after!
    const { path } = this.place.target
    if (!this.#current) return this.#scope.intend({ op: 'create', path, after })
    const { before, notUndoable } = await keepCurrent(this.#scope, this.place, this.#current, this.#before)
    await this.#scope.intend({ op: 'replace', path, before, after }, { notUndoable })
  }

  /** Keeps what is replaced under a second name, for `takeBack`. */
  async secure(): Promise<void> {
    if (!this.#current) return
    this.#backup = new FileDraft(this.#scope, this.place)
    await backUpFile(this.place, this.#current, this.#backup, this.#scope.signal)
  }

  /** Gives the draft its name. Synchronous, so that nothing happens between the last check and the rename. */
  apply(): void {
    if (this.#current) {
      checkUnchanged(this.place, this.#current.stats)
      this.#rename(this.#draft)
      this.#draft.end()
    } else giveName(entryOf(this.#draft), this.place)
    this.#scope.call.seen?.set(this.place.target.path, this.#after!.sha256)
  }

  /** Undoes `apply`. */
  takeBack(): void {
    if (this.#backup) {
      this.#rename(this.#backup)
      this.#backup.end()
    } else if (isEntryAt(this.place.parent, this.place.path, this.#made!)) {
      fileAccess.unlink(entryOf(this.place))
    }
    if (this.#before) this.#scope.call.seen?.set(this.place.target.path, this.#before.sha256)
  }

  #rename(draft: FileDraft): void {
    fileAccess.rename(entryOf(draft), entryOf(this.place))
  }

  /** Removes everything but the file. */
  async close(): Promise<void> {
    if (this.#current) closeSync(this.#current.descriptor)
    await this.#abandon()
    this.#backup?.remove()
  }

  async #abandon(): Promise<void> {
    await this.#syncing?.catch(() => {})
    await this.#file?.close()
    this.#draft.remove()
  }
}

function checkPresence(
  scope: ChangeScope,
  place: ChangePlace,
  isThere: boolean,
  { overwrite, replaces }: SwapOptions,
): void {
  if (isThere && !overwrite) throw existsAlready(place)
  if (isThere) checkMayReplace(scope, place.target, replaces)
  if (isThere || replaces === undefined) return
  throw new ToolError('CONFLICT', `${quotePath(place.target.path)} is not there any more.`, {
    hint: 'Write it without replaces, or leave it.',
  })
}

/** Writes the content of a place: prepared, recorded, replaced in one step, and durable when this returns. */
export async function swapFile(scope: ChangeScope, place: ChangePlace, options: SwapOptions): Promise<Written> {
  const swap = await FileSwap.prepare(scope, place, options)
  try {
    await swap.keep()
    scope.throwIfAborted()
    swap.apply()
  } finally {
    await swap.close()
  }
  await syncPlace(place)
  return swap.written
}
