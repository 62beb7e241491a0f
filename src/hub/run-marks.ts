import * as fs from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ToolError } from '../core/index.ts'
import { errnoOf, escapeLine } from '../lib/index.ts'
import { diskError, parseEvent, readLinesSync } from '../records/log/index.ts'
import { openOurs, syncFolder } from '../system/index.ts'

const TAINT_MARK = 'tainted'
const CLEARED_MARK = 'taint-cleared'
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

  /** Marks the run as tainted. A loss of power may lose names of sources that are added later, never the taint. */
  setTainted(sources: TaintSources, { isChanged }: { readonly isChanged: boolean }): void {
    if (this.#isTainted && !isChanged) return
    const content = sources.list.join('\n')
    if (this.#isTainted) rewrite(join(this.#folder, TAINT_MARK), content)
    else this.#write(TAINT_MARK, content)
    this.#isTainted = true
  }

  /** Whether the run was tainted before its taint was cleared. */
  get wasCleared(): boolean {
    return wasMarkedCleared(this.#folder)
  }

  /** Keeps on disk that the run was tainted, before `removeTaint`. */
  async setCleared(): Promise<void> {
    this.#write(CLEARED_MARK, '')
    await this.synced()
  }

  /** Removes the mark of a tainted run. Call `synced` next. */
  removeTaint(): void {
    fs.rmSync(join(this.#folder, TAINT_MARK), { force: true })
    this.#isTainted = false
    // The folder is synced with any mark that is left in it.
    this.#unsynced.delete(TAINT_MARK)
    this.#unsynced.add(CLEARED_MARK)
    this.isDurable = false
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

/** Returns whether the folder of a run has the mark of one whose taint was cleared. */
export function wasMarkedCleared(folder: string): boolean {
  return fs.existsSync(join(folder, CLEARED_MARK))
}

/** Returns what tainted a run, by the mark in its folder. */
export function markedSources(folder: string): readonly string[] {
  if (!isMarkedTainted(folder)) return []
  try {
    const lines = fs.readFileSync(join(folder, TAINT_MARK), 'utf8').split('\n')
    const sources = lines.filter((line) => line !== '').slice(0, MAX_SOURCES)
    if (sources.length > 0) return sources.map(shorten)
  } catch {
    // The names only help people: the run is tainted in any case.
  }
  return [UNKNOWN_SOURCE]
}

/** Marks of older versions, and those that a loss of power has emptied, name no source. */
const UNKNOWN_SOURCE = 'an unknown source'
const OTHER_SOURCES = 'other sources'
const MAX_SOURCES = 20
const MAX_SOURCE_CHARS = 200

/** What has tainted a run, in order: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
export class TaintSources {
  readonly #names: Set<string>
  readonly #redact: (text: string) => string

  constructor(redact: (text: string) => string, names: readonly string[] = []) {
    this.#redact = redact
    this.#names = new Set(names)
  }

  /** Returns whether the list has changed: it has each source once, and at most 20. */
  add(source: string): boolean {
    const names = this.#names
    if (names.has(source) || names.size >= MAX_SOURCES) return false
    const name = shorten(this.#redact(source))
    const before = names.size
    names.add(before < MAX_SOURCES - 1 || names.has(name) ? name : OTHER_SOURCES)
    return names.size > before
  }

  get list(): readonly string[] {
    return [...this.#names]
  }
}

function shorten(source: string): string {
  const line = escapeLine(source)
  return line.length <= MAX_SOURCE_CHARS ? line : `${line.slice(0, MAX_SOURCE_CHARS - 1)}…`
}

/** Replaces the content of a mark that is there already. */
function rewrite(path: string, content: string): void {
  try {
    fs.writeFileSync(path, content, { mode: 0o600 })
  } catch {
    // A full disk: the mark itself stays, without some of its names.
  }
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
