import { posix } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { fileAccess } from '../access/choose-access.ts'
import { atDescriptor } from '../at-descriptor.ts'
import type { ChangeScope } from './change-scope.ts'
import { draftName } from './draft-name.ts'
import type { Place } from './place.ts'

/** A name beside a place for what is not finished or about to go; written down before anything has it. */
export class Draft {
  readonly name = draftName()
  /** As the system finds it. */
  readonly path: string
  readonly parent: number
  readonly #end: () => void
  #isEnded = false

  constructor({ shared }: ChangeScope, { target, parent }: Place) {
    this.parent = parent
    this.path = atDescriptor(parent, this.name)
    this.#end = shared.ledger.begin(posix.join(posix.dirname(target.path), this.name))
  }

  /** Nothing has the name any more: what had it got its own name, or was never made. */
  end(): void {
    if (!this.#isEnded) this.#end()
    this.#isEnded = true
  }

  /** Removes the file that has the name, if one has. A draft that ended is left alone. */
  remove(): void {
    if (this.#isEnded) return
    try {
      fileAccess.unlink({ folder: this.parent, path: this.path })
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
    }
    this.end()
  }
}
