import * as fs from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ToolError } from '../core/index.ts'
import { errnoOf } from '../lib/index.ts'
import { diskError, parseEvent, readLinesSync } from '../records/log/index.ts'
import { openOurs, syncFolder } from '../system/index.ts'

const TAINT_MARK = 'tainted'
const OWNER_MARK = 'principal'
/** Errors that are ignored here: opening the run reports them if they matter. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR'])

/** The marks in the folder of a run for later processes: its owner and its taint. */
export class RunMarks {
  readonly #folder: string
  readonly #unsynced = new Set<string>()
  /** Whether all marks survive a loss of power; `synced` waits for it. */
  isDurable = true
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

  /** Resolves when the marks are durable. Returns `undefined` if they already are. */
  synced(): Promise<void> | undefined {
    if (this.#unsynced.size === 0) return this.#syncing
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined
    })
    return this.#syncing
  }

  #write(name: string, content: string): void {
    // Also replaces an empty mark, which a loss of power or a full disk may have left.
    fs.writeFileSync(join(this.#folder, name), content, { mode: 0o600 })
    this.#unsynced.add(name)
    this.isDurable = false
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
    this.isDurable = true
  }
}

/** The owner of a run on disk: a principal, or the owner of the hub if `principal` is `undefined`. */
export interface RunMarkedBy {
  readonly principal: string | undefined
}

/**
 * Returns the owner of a run, or `undefined` if the run has not started: it will belong to the first principal that
 * uses it.
 */
export function runOwner(folder: string, id: string): RunMarkedBy | undefined {
  const run = join(folder, id)
  try {
    const principal = fs.readFileSync(join(run, OWNER_MARK), 'utf8')
    if (principal !== '') return { principal }
  } catch (error) {
    if (!NOT_THERE.has(errnoOf(error))) throw error
  }
  return ownerInRecord(run)
}

/** Returns whether the folder of a run has the mark of a tainted run. */
export function isMarkedTainted(folder: string): boolean {
  return fs.existsSync(join(folder, TAINT_MARK))
}

/** Reads the owner from the first recorded call, for a process that ended before it could mark its run. */
function ownerInRecord(run: string): RunMarkedBy | undefined {
  let descriptor: number
  try {
    descriptor = openOurs(join(run, 'events.jsonl'), fs.constants.O_RDONLY)
  } catch (error) {
    if (NOT_THERE.has(errnoOf(error))) return undefined
    throw error
  }
  try {
    for (const line of readLinesSync(descriptor)) {
      const event = parseEvent(line)
      if (event?.type === 'call-started' || event?.type === 'call-ended') return { principal: event.principal }
    }
    return undefined
  } finally {
    fs.closeSync(descriptor)
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}

/** Throws NOT_FOUND if the run belongs to another principal, as for a run that does not exist. */
export function assertOwner(id: string, known: string | undefined, principal: string): void {
  if (known === principal) return
  throw new ToolError('NOT_FOUND', `There is no run ${JSON.stringify(id)} of ${principal}.`, {
    hint: 'Leave run out, or use a name that nobody else has used.',
  })
}
