import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prepareMissingDataFolder } from '../../../disk/data-folder.ts'
import { errnoOf } from '../../../disk/errno.ts'
import { currentProcess } from '../../../disk/process-identity.ts'
import { ToolError } from '../../../errors.ts'

/** Where a process writes down its drafts before it makes them, so that the next one can remove what a crash left. */
export interface DraftsLedger {
  /** Writes a draft down; the function that comes back says that it is gone again. */
  begin(path: string): () => void
  /** Forgets the file once the last draft is gone. */
  close(): void
}

/** The file is emptied when nothing is under way and it has grown to this. */
const TIDY_BYTES = 65_536

const NO_LEDGER: DraftsLedger = { begin: () => () => {}, close() {} }

/** The ending of a ledger's file. */
export const LEDGER_ENDING = '.drafts.jsonl'

/** Makes the ledger of one guard: the first line says whose it is, each further line is the path of a draft. */
export function createDraftsLedger(folder: string | undefined): DraftsLedger {
  return folder === undefined ? NO_LEDGER : new FileLedger(folder)
}

class FileLedger implements DraftsLedger {
  readonly #folder: string
  #file: { readonly path: string; readonly descriptor: number } | undefined
  #written = 0
  #underWay = 0
  #isClosed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  begin(path: string): () => void {
    try {
      this.#file ??= this.#open()
      // Without fsync, which every change would wait for: a killed process loses no line. After a loss of power a draft
      // may stay that no line tells of; it has a name that no search finds and no copy takes along.
      this.#written += writeSync(this.#file.descriptor, `${JSON.stringify(path)}\n`)
    } catch (error) {
      throw cannotWrite(this.#folder, error)
    }
    this.#underWay += 1
    return () => this.#end()
  }

  close(): void {
    this.#isClosed = true
    if (this.#underWay === 0) this.#remove()
  }

  #end(): void {
    this.#underWay -= 1
    if (this.#underWay > 0) return
    if (this.#isClosed) this.#remove()
    else if (this.#written > TIDY_BYTES) this.#empty()
  }

  #open(): { path: string; descriptor: number } {
    prepareMissingDataFolder(dirname(this.#folder))
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, `${process.pid}-${randomBytes(6).toString('hex')}${LEDGER_ENDING}`)
    const descriptor = openSync(path, 'ax', 0o600)
    writeSync(descriptor, ownerLine())
    return { path, descriptor }
  }

  #empty(): void {
    ftruncateSync(this.#file!.descriptor)
    writeSync(this.#file!.descriptor, ownerLine())
    this.#written = 0
  }

  #remove(): void {
    if (!this.#file) return
    closeSync(this.#file.descriptor)
    rmSync(this.#file.path, { force: true })
    this.#file = undefined
  }
}

function ownerLine(): string {
  return `${JSON.stringify(currentProcess())}\n`
}

/** The target of the change has nothing to do with it, so the error must not be about the target. */
function cannotWrite(folder: string, cause: unknown): ToolError {
  const errno = errnoOf(cause)
  const options = { cause, details: { folder, errno } }
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new ToolError(
      'RECORDS_UNAVAILABLE',
      `The list of unfinished files cannot be kept: the disk is full (${errno}).`,
      {
        ...options,
        fix: { key: 'data', hint: 'Free space on the disk of the data folder, or point data to another one.' },
      },
    )
  }
  return new ToolError('CONFIG_INVALID', `The list of unfinished files cannot be kept in the data folder (${errno}).`, {
    ...options,
    fix: { key: 'data', hint: 'Point data to a folder that this user can create and write.' },
  })
}
