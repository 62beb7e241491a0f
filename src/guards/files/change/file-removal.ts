import { closeSync } from 'node:fs'
import type { FileState } from '../../../change.ts'
import type { Written } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import { sha256 } from '../../../value/hash.ts'
import { quotePath } from '../quote-path.ts'
import type { ChangeScope } from './change-scope.ts'
import { type CurrentFile, changed, checkUnchanged, openCurrent } from './current-file.ts'
import type { Draft } from './draft.ts'
import { hashCurrent, keepCurrent } from './keep-current.ts'
import type { Place } from './place.ts'
import { putBack, takeAway } from './take-away.ts'

/** A file on its way out: on record first, then taken away in one step. */
export class FileRemoval {
  readonly place: Place
  /** Nothing is left of it. */
  readonly written: Written = { bytes: 0, sha256: sha256('') }
  readonly bytes: number
  readonly #before: FileState | undefined
  readonly #scope: ChangeScope
  readonly #current: CurrentFile
  #draft: Draft | undefined

  /** Looks at what is to be removed; whoever made the removal closes it. */
  static async prepare(scope: ChangeScope, place: Place, replaces?: string): Promise<FileRemoval> {
    const current = openCurrent(scope, place)
    if (!current) throw new ToolError('NOT_FOUND', `${quotePath(place.target.path)} does not exist.`)
    try {
      const before = await hashCurrent(scope, current, replaces !== undefined)
      if (replaces !== undefined && before?.sha256 !== replaces) throw changed(place)
      return new FileRemoval(scope, place, current, before)
    } catch (error) {
      closeSync(current.descriptor)
      throw error
    }
  }

  private constructor(scope: ChangeScope, place: Place, current: CurrentFile, before: FileState | undefined) {
    this.#scope = scope
    this.place = place
    this.#current = current
    this.#before = before
    this.bytes = Number(current.stats.size)
  }

  /** Keeps the content and puts the removal on record. */
  async keep(): Promise<void> {
    const { before, notUndoable } = await keepCurrent(this.#scope, this.place, this.#current, this.#before)
    await this.#scope.intend({ op: 'remove', path: this.place.target.path, before }, { notUndoable })
  }

  /** Nothing to do: `apply` keeps the file under a draft's name until the end. */
  async secure(): Promise<void> {}

  apply(): void {
    checkUnchanged(this.place, this.#current.stats)
    this.#draft = takeAway(this.#scope, this.place, this.#current.stats)
  }

  /** Undoes `apply`. */
  takeBack(): void {
    if (this.#draft) putBack(this.place, this.#draft, false)
  }

  /** Removes for good what was taken away. */
  async close(): Promise<void> {
    closeSync(this.#current.descriptor)
    this.#draft?.remove()
  }
}
