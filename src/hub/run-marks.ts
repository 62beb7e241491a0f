import * as fs from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoOf } from '../lib/index.ts'
import { diskError, parseEvent, readLinesSync } from '../records/log/index.ts'
import { openOurs, syncFolder } from '../system/index.ts'

/** The run is not there yet: whoever comes first has it. */
export const NOBODY = Symbol('nobody')

const TAINT_MARK = 'tainted'
const OWNER_MARK = 'principal'
/** What opening the run tells better, if it is wrong at all. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR'])

/** Whose a run is on disk: a principal's, nobody's yet, or (undefined) the hub's own owner's. */
export function ownerOf(folder: string, id: string): string | undefined | typeof NOBODY {
  const run = join(folder, id)
  try {
    const marked = fs.readFileSync(join(run, OWNER_MARK), 'utf8')
    if (marked !== '') return marked
  } catch (error) {
    if (!NOT_THERE.has(errnoOf(error))) throw error
  }
  return ownerInRecord(run)
}

/** Whether a run has read content from outside, as far as its folder tells. */
export function isMarkedTainted(folder: string): boolean {
  return fs.existsSync(join(folder, TAINT_MARK))
}

/** What an open run leaves in its folder for the next process: whose it is, and that it is tainted. */
export class RunMarks {
  readonly #folder: string
  readonly #unsynced = new Set<string>()
  #isTainted: boolean
  #syncing: Promise<void> | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#isTainted = isMarkedTainted(folder)
  }

  get isTainted(): boolean {
    return this.#isTainted
  }

  setOwner(principal: string): void {
    this.#write(OWNER_MARK, principal)
  }

  setTainted(): void {
    if (this.#isTainted) return
    this.#write(TAINT_MARK, '')
    this.#isTainted = true
  }

  /** Resolves when the marks survive a loss of power; undefined when they do already. */
  synced(): Promise<void> | undefined {
    if (this.#unsynced.size === 0) return this.#syncing
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined
    })
    return this.#syncing
  }

  #write(name: string, content: string): void {
    // Over an empty one, too: a loss of power, or a full disk, may have left it.
    fs.writeFileSync(join(this.#folder, name), content, { mode: 0o600 })
    this.#unsynced.add(name)
  }

  async #sync(): Promise<void> {
    while (this.#unsynced.size > 0) {
      const names = [...this.#unsynced]
      try {
        await Promise.all(names.map((name) => syncFile(join(this.#folder, name))))
        await Promise.all([syncFolder(this.#folder), syncFolder(dirname(this.#folder))])
      } catch (error) {
        throw diskError('The marks of the run cannot be made durable', this.#folder, error)
      }
      for (const name of names) this.#unsynced.delete(name)
    }
  }
}

/** A process that ended before it could mark its run has left at most the lines: the first call says whose it is. */
function ownerInRecord(run: string): string | undefined | typeof NOBODY {
  let descriptor: number
  try {
    descriptor = openOurs(join(run, 'events.jsonl'), fs.constants.O_RDONLY)
  } catch (error) {
    if (NOT_THERE.has(errnoOf(error))) return NOBODY
    throw error
  }
  try {
    for (const line of readLinesSync(descriptor)) {
      const event = parseEvent(line)
      if (event?.type === 'call-started' || event?.type === 'call-ended') return event.principal
    }
    return NOBODY
  } finally {
    fs.closeSync(descriptor)
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}
